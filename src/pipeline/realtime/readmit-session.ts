/** Checks that a session that is open would be opened again. */
import type { Admitted } from '../../admission/admission.ts'
import type { AskedRequest } from '../../admission/count-request.ts'
import { ProxyError } from '../../errors/errors.ts'
import { refuseUnallowed } from '../../providers/model-router.ts'
import type { Stages } from '../request-context.ts'
import type { SessionSpending } from './session-spending.ts'

export interface OpenSession {
  spending: Pick<SessionSpending, 'account' | 'transcription' | 'setAccount'>
  /** The model that the session was opened with; null for a session that only transcribes. */
  model: string | null
  admitted: Pick<AskedRequest, 'keyHash' | 'address'> & Pick<Admitted, 'leave'>
}

/** Throws what opening would. `onKeyError` is called first where the key is not active, or not used from an address of its own. */
export async function readmitSession(
  { spending, model, admitted: { leave, ...request } }: OpenSession,
  { admission, modelRouter }: Pick<Stages, 'admission' | 'modelRouter'>,
  onKeyError: (error: ProxyError) => void,
): Promise<void> {
  const account = await admission.readmit(request, { account: spending.account, leave }).catch(error => {
    if (error instanceof ProxyError && KEY_ERRORS.includes(error.status)) onKeyError(error)
    throw error
  })
  const provider = model === null ? null : modelRouter.resolve(model, account)
  if (provider instanceof ProxyError) throw provider
  const { transcription } = spending
  const refusal = refuseUnallowed(transcription === null ? [] : [transcription], account)
  if (refusal) throw refusal
  await spending.setAccount(account)
}

const KEY_ERRORS: readonly number[] = [401, 403]
