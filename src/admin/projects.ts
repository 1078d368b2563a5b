/** The project that an operation is about. */
import type { Actor } from '../postgres/admin/call-as.ts'
import { requireProject } from './find-objects.ts'
import { requireId } from './ids.ts'

/** Throws a 404 for one that the caller may not see. `id` is as the API shows it. */
export async function findProject(actor: Actor, id: string): Promise<{ id: number; plan: string }> {
  const number = requireId('proj', id)
  const { plan } = await requireProject(actor, number)
  return { id: number, plan }
}
