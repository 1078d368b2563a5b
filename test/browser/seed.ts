/** A proxy with something to look at: projects, keys, a day of usage, an administrator. */
import { hashPassword } from '../../src/admin/login.ts'
import type { TestProxy } from '../harness/proxy.ts'

export const EMAIL = 'admin@localhost'
export const PASSWORD = 'correct horse battery staple'

export async function addAdministrator(proxy: TestProxy): Promise<void> {
  await proxy.query(`select create_user('${EMAIL}', 'owner', '${await hashPassword(PASSWORD)}')`)
}
