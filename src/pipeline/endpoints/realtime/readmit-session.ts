/** Checks that a session that is open would be opened again. */
import type { AdmissionGrant } from '../../../admission/admission.ts'
import type { AdmissionInput } from '../../../admission/request-counter.ts'
import { ProxyError } from '../../../errors/errors.ts'
import { checkAllowedModels } from '../../../providers/model-router.ts'
import type { PipelineServices } from '../../context/request-context.ts'
import type { SessionSpending } from './session-spending.ts'

export interface SessionAdmission {
  spending: Pick<SessionSpending, 'account' | 'transcriptionModel' | 'setAccount'>
  /** The model that the session was opened with; null for a session that only transcribes. */
  model: string | null
  admitted: Pick<AdmissionInput, 'keyHash' | 'address'> & Pick<AdmissionGrant, 'release'>
}

/** Throws what opening would. `onKeyError` is called first where the key is not active, or not used from an address of its own. */
export async function recheckSession(
  { spending, model, admitted: { release, ...request } }: SessionAdmission,
  { admission, modelRouter }: Pick<PipelineServices, 'admission' | 'modelRouter'>,
  onKeyError: (error: ProxyError) => void,
): Promise<void> {
  const account = await admission.readmit(request, { resolvedKey: spending.account, release }).catch(error => {
    if (error instanceof ProxyError && KEY_ERRORS.includes(error.status)) onKeyError(error)
    throw error
  })
  const provider = model === null ? null : modelRouter.resolve(model, account)
  if (provider instanceof ProxyError) throw provider
  const { transcriptionModel } = spending
  const refusal = checkAllowedModels(transcriptionModel === null ? [] : [transcriptionModel], account)
  if (refusal) throw refusal
  await spending.setAccount(account)
}

const KEY_ERRORS: readonly number[] = [401, 403]
