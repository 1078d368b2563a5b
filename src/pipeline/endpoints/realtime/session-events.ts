/** Reads the parts of a session's events that affect its cost: usage, responses and settings. */
import { canMatchInJson, isJsonObject, type JsonObject } from '../../../formats/json/canonical.ts'
import { findStoredObjectReferences, type StoredObjectReference } from '../../../formats/stored-object-references.ts'

/** Events without these words do not affect cost, and are not parsed. */
const BILLING_PATTERN =
  /"(?:usage|response\.created|response\.done|error|(?:transcription_)?session\.(?:created|updated))"/

export function isBillingEvent(text: string): boolean {
  return canMatchInJson(text, BILLING_PATTERN)
}

/** Returns the usage in an event of any type, or in an object directly within it, such as `response`; undefined if there is none. */
export function findUsage(event: JsonObject): unknown {
  const objects = [event, ...Object.values(event).filter(isJsonObject)]
  return objects.find(({ usage }) => isJsonObject(usage))?.usage
}

/** Returns the id of the event's response; undefined if it has none. */
export function readResponseId({ response, response_id }: JsonObject): unknown {
  return isJsonObject(response) ? response.id : response_id
}

/** The settings in an event; a field is undefined if the event does not set it. */
export interface SessionSettings {
  model?: unknown
  /** The model that transcribes input; null turns transcription off. */
  transcription?: string | null
  /** Whether the provider begins responses by itself, after speech or silence. */
  hasAutomaticResponses?: boolean
}

/** Reads the current field names and those of the beta. */
export function readSessionSettings({ session }: JsonObject): SessionSettings {
  if (!isJsonObject(session)) return {}
  const audio = isJsonObject(session.audio) ? session.audio : {}
  const input = isJsonObject(audio.input) ? audio.input : {}
  const transcription = readTranscription(input.transcription ?? session.input_audio_transcription, input, session)
  const detection = input.turn_detection === undefined ? session.turn_detection : input.turn_detection
  return {
    ...(session.model !== undefined && { model: session.model }),
    ...(transcription !== undefined && { transcription }),
    ...(detection !== undefined && { hasAutomaticResponses: respondsAutomatically(detection) }),
  }
}

function readTranscription(transcription: unknown, ...settings: JsonObject[]): string | null | undefined {
  if (isJsonObject(transcription)) return typeof transcription.model === 'string' ? transcription.model : undefined
  const isOff = settings.some(setting => setting.transcription === null || setting.input_audio_transcription === null)
  return isOff ? null : undefined
}

function respondsAutomatically(detection: unknown): boolean {
  if (!isJsonObject(detection)) return detection !== null
  return detection.create_response !== false || (detection.idle_timeout_ms ?? null) !== null
}

/** Whether a client's event changes settings. */
export function isSettingsUpdate({ type }: JsonObject): boolean {
  return type === 'session.update' || type === 'transcription_session.update'
}

/** Whether a provider's event confirms settings. */
export function isSettingsConfirmation({ type }: JsonObject): boolean {
  return type === 'session.created' || type === 'session.updated' || type === 'transcription_session.updated'
}

/** Values of a response's `conversation` that are no ids. */
const CONVERSATION_MODES: readonly string[] = ['auto', 'none']

/** Lists the stored objects that a client's event names. */
export function listEventReferences(event: JsonObject): StoredObjectReference[] {
  return findStoredObjectReferences(event).filter(({ id }) => !CONVERSATION_MODES.includes(id))
}
