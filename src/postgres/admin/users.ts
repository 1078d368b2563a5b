/** Users, members of projects, admin keys, sessions and the audit log. */
import { defineChange, defineRead } from './act-as.ts'

export interface UserRow {
  id: number
  email: string
  role: 'owner' | 'reader'
  created_at: string
}

export const pageOfUsers = defineRead<UserRow>()('page_of_users', {
  only_user: 'bigint?',
  of_emails: 'text[]?',
  after_id: 'bigint?',
  page_size: 'integer',
})
export interface LoginStateRow {
  user_id: number
  can_log_in: boolean
  invited_until: string | null
  last_seen_at: string | null
}

export const loginStates = defineRead<LoginStateRow>()('login_states', { of_users: 'bigint[]' })
export const membershipsOf = defineRead<{ user_id: number; project_id: number; role: 'owner' | 'member' | 'viewer' }>()(
  'memberships_of',
  { of_users: 'bigint[]' },
)
export const inviteNewUser = defineChange<{ user_id: number; invitation: string }>()('invite_new_user', {
  email: 'text',
  user_role: 'text',
  of_projects: 'bigint[]',
  member_roles: 'text[]',
})
export const inviteUser = defineChange<{ result: string }>()('invite_user', { of_user: 'bigint' })
export const setUserRole = defineChange()('set_user_role', {
  of_user: 'bigint',
  user_role: 'text',
})
export const deleteUser = defineChange()('delete_user', { of_user: 'bigint' })
/** Ends all sessions but the kept one: a hex SHA-256 of its cookie, or null. */
export const setPassword = defineChange()('set_password', {
  new_hash: 'text',
  kept_session: 'text?',
})
export interface SessionRow {
  id: number
  address: string
  user_agent: string
  created_at: string
  last_seen_at: string
  is_this_one: boolean
}

/** `this_one`: the hex SHA-256 of the cookie that asks. */
export const ownSessions = defineRead<SessionRow>()('own_sessions', { this_one: 'text?' })
/** A key of the Playground: valid for an hour, at most as long as the session. */
export const issueSessionKey = defineChange<{ result: string }>()('issue_session_key', {
  project: 'project',
  key_type: 'text',
  token_hash: 'text',
})
export const closeSessionWithId = defineChange()('close_session_with_id', { session_id: 'bigint' })
export const closeSession = defineChange()('close_session', { token_hash: 'text' })
export const closeSessions = defineChange<{ result: number }>()('close_sessions', {})

export interface MemberRow {
  user_id: number
  email: string
  role: 'owner' | 'member' | 'viewer'
  created_at: string
}

export const pageOfMembers = defineRead<MemberRow>()('page_of_members', {
  of_project: 'bigint',
  only_user: 'bigint?',
  after_id: 'bigint?',
  page_size: 'integer',
})
export const addMember = defineChange<{ user_id: number; invitation: string | null }>()('add_member', {
  project: 'project',
  member_email: 'text',
  member_role: 'text',
})
export const addMembership = defineChange()('add_membership', {
  project: 'project',
  of_user: 'bigint',
  member_role: 'text',
})
export const setMember = defineChange()('set_member', {
  project: 'project',
  of_user: 'bigint',
  member_role: 'text',
})
export const removeMember = defineChange()('remove_member', {
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

export const pageOfAdminKeys = defineRead<AdminKeyRow>()('page_of_admin_keys', {
  only_key: 'bigint?',
  newest_first: 'boolean',
  after_id: 'bigint?',
  page_size: 'integer',
})
export const issueAdminKey = defineChange<{ id: number; key: string }>()('issue_admin_key', {
  of_email: 'text',
  key_name: 'text',
  expires: 'timestamptz?',
})
export const deleteAdminKey = defineChange()('delete_admin_key', { key_id: 'bigint' })

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

export const pageOfAuditLog = defineRead<AuditRow>()('page_of_audit_log', {
  of_projects: 'bigint[]?',
  of_actions: 'text[]?',
  of_emails: 'text[]?',
  of_users: 'bigint[]?',
  of_targets: 'text[]?',
  from_time: 'timestamptz?',
  until_time: 'timestamptz?',
  after_id: 'bigint?',
  before_id: 'bigint?',
  page_size: 'integer',
})

/** Throws a 403 for others than administrators. */
export const requireAdministrator = defineRead()('require_administrator', {})
