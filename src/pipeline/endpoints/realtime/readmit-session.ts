/** Checks that an open session would still be admitted. */
import type { AdmissionGrant } from '../../../admission/admission.ts'
import type { AdmissionInput } from '../../../admission/request-counter.ts'
import { ProxyError, throwIfError } from '../../../errors/errors.ts'
import { checkAllowedModels } from '../../../providers/model-router.ts'
import type { PipelineServices } from '../../context/request-context.ts'
import type { SessionSpending } from './session-spending.ts'

export interface SessionAdmission {
  spending: Pick<SessionSpending, 'resolvedKey' | 'transcriptionModel' | 'setResolvedKey'>
  /** The session's model; null for a session that only transcribes. */
  model: string | null
  admitted: Pick<AdmissionInput, 'keyHash' | 'address'> & Pick<AdmissionGrant, 'release'>
}

/** Throws as opening would. Calls `onKeyError` first if the key is not active, or not allowed from the client's address. */
export async function recheckSession(
  { spending, model, admitted: { release, ...request } }: SessionAdmission,
  { admission, modelRouter }: Pick<PipelineServices, 'admission' | 'modelRouter'>,
  onKeyError: (error: ProxyError) => void,
): Promise<void> {
  const resolvedKey = await admission.readmit(request, { resolvedKey: spending.resolvedKey, release }).catch(error => {
    if (error instanceof ProxyError && KEY_ERRORS.includes(error.status)) onKeyError(error)
    throw error
  })
  if (model !== null) throwIfError(modelRouter.resolve(model, resolvedKey))
  const { transcriptionModel } = spending
  throwIfError(checkAllowedModels(transcriptionModel === null ? [] : [transcriptionModel], resolvedKey))
  await spending.setResolvedKey(resolvedKey)
}

const KEY_ERRORS: readonly number[] = [401, 403]
