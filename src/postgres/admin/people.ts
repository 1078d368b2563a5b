/** Users, members of projects, admin keys, sessions and the audit log. */
import { defineChange, defineRead } from './act-as.ts'

export interface UserRow {
  id: number
  email: string
  role: 'owner' | 'reader'
  created_at: string
}

export const pageOfUsers = defineRead<
  { only_user?: number; of_emails?: string[] | null; after_id?: number | undefined; page_size: number },
  UserRow
>('page_of_users', { only_user: 'bigint', of_emails: 'text[]', after_id: 'bigint', page_size: 'integer' })
export const createUser = defineChange<{ email: string; user_role: string }, { result: number }>('create_user', {
  email: 'text',
  user_role: 'text',
})
export const inviteUser = defineChange<{ of_user: number }, { result: string }>('invite_user', { of_user: 'bigint' })
export const setUserRole = defineChange<{ of_user: number; user_role: string }>('set_user_role', {
  of_user: 'bigint',
  user_role: 'text',
})
export const deleteUser = defineChange<{ of_user: number }>('delete_user', { of_user: 'bigint' })
/** Ends all sessions but the kept one: a hex SHA-256 of its cookie, or null. */
export const setPassword = defineChange<{ new_hash: string; kept_session: string | null }>('set_password', {
  new_hash: 'text',
  kept_session: 'text',
})
export const closeSession = defineChange<{ token_hash: string }>('close_session', { token_hash: 'text' })
export const closeSessions = defineChange<Record<never, never>, { result: number }>('close_sessions', {})

export interface MemberRow {
  user_id: number
  email: string
  role: 'owner' | 'member' | 'viewer'
  created_at: string
}

export const pageOfMembers = defineRead<
  { of_project: number; only_user?: number; after_id?: number | undefined; page_size: number },
  MemberRow
>('page_of_members', { of_project: 'bigint', only_user: 'bigint', after_id: 'bigint', page_size: 'integer' })
export const addMember = defineChange<
  { project: number; member_email: string; member_role: string },
  { user_id: number; invitation: string | null }
>('add_member', { project: 'project', member_email: 'text', member_role: 'text' })
export const setMember = defineChange<{ project: number; of_user: number; member_role: string }>('set_member', {
  project: 'project',
  of_user: 'bigint',
  member_role: 'text',
})
export const removeMember = defineChange<{ project: number; of_user: number }>('remove_member', {
  project: 'project',
  of_user: 'bigint',
})

export interface AdminKeyRow {
  id: number
  prefix: string
  name: string
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  user_id: number
  email: string
  role: 'owner' | 'reader'
}

export const pageOfAdminKeys = defineRead<
  { only_key?: number; newest_first: boolean; after_id?: number | undefined; page_size: number },
  AdminKeyRow
>('page_of_admin_keys', { only_key: 'bigint', newest_first: 'boolean', after_id: 'bigint', page_size: 'integer' })
export const issueAdminKey = defineChange<
  { of_email: string; key_name: string; expires: string | null },
  { id: number; key: string }
>('issue_admin_key', { of_email: 'text', key_name: 'text', expires: 'timestamptz' })
export const deleteAdminKey = defineChange<{ key_id: number }>('delete_admin_key', { key_id: 'bigint' })

export interface AuditRow {
  id: number
  recorded_at: string
  actor: string
  actor_kind: 'session' | 'api_key' | 'operator'
  user_id: number | null
  admin_key_id: number | null
  address: string | null
  project_id: number | null
  project_name: string | null
  action: string
  target: string
  details: Record<string, unknown>
}

export interface AuditFilter {
  of_projects: number[] | null
  of_actions: string[] | null
  of_emails: string[] | null
  of_users: number[] | null
  of_targets: string[] | null
  from_time: string | null
  until_time: string | null
  after_id: number | null
  before_id: number | null
  page_size: number
}

export const pageOfAuditLog = defineRead<AuditFilter, AuditRow>('page_of_audit_log', {
  of_projects: 'bigint[]',
  of_actions: 'text[]',
  of_emails: 'text[]',
  of_users: 'bigint[]',
  of_targets: 'text[]',
  from_time: 'timestamptz',
  until_time: 'timestamptz',
  after_id: 'bigint',
  before_id: 'bigint',
  page_size: 'integer',
})
