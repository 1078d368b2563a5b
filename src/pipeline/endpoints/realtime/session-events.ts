/** Reads of a session's events what decides over its cost: which event carries usage, and which models it configures. */
import { canMatchInJson, isJsonObject, type JsonObject } from '../../../formats/json/canonical.ts'
import { findStoredObjectReferences, type StoredObjectReference } from '../../../formats/stored-object-references.ts'

/** Events without these words decide nothing, and are not parsed. */
const WATCHED = /"(?:usage|response\.created|response\.done|error|(?:transcription_)?session\.(?:created|updated))"/

export function isBillingEvent(text: string): boolean {
  return canMatchInJson(text, WATCHED)
}

/** The usage in an event of any type, or in an object directly within it, as in `response`; undefined where it has none. */
export function findUsage(event: JsonObject): unknown {
  const objects = [event, ...Object.values(event).filter(isJsonObject)]
  return objects.find(({ usage }) => isJsonObject(usage))?.usage
}

/** The id of the response that an event belongs to; undefined for none. */
export function readResponseId({ response, response_id }: JsonObject): unknown {
  return isJsonObject(response) ? response.id : response_id
}

/** What an event sets in its session; undefined: it sets nothing of the kind. */
export interface SessionSettings {
  model?: unknown
  /** Null: input is not transcribed. */
  transcription?: string | null
  /** Whether the provider begins responses by itself, when somebody has spoken or is silent. */
  hasAutomaticResponses?: boolean
}

/** Reads today's names and those of the beta. */
export function readSessionSettings({ session }: JsonObject): SessionSettings {
  if (!isJsonObject(session)) return {}
  const audio = isJsonObject(session.audio) ? session.audio : {}
  const input = isJsonObject(audio.input) ? audio.input : {}
  const transcription = readTranscription(input.transcription ?? session.input_audio_transcription, input, session)
  const detection = input.turn_detection === undefined ? session.turn_detection : input.turn_detection
  return {
    ...(session.model !== undefined && { model: session.model }),
    ...(transcription !== undefined && { transcription }),
    ...(detection !== undefined && { hasAutomaticResponses: responds(detection) }),
  }
}

function readTranscription(given: unknown, ...places: JsonObject[]): string | null | undefined {
  if (isJsonObject(given)) return typeof given.model === 'string' ? given.model : undefined
  const isOff = places.some(place => place.transcription === null || place.input_audio_transcription === null)
  return isOff ? null : undefined
}

function responds(detection: unknown): boolean {
  if (!isJsonObject(detection)) return detection !== null
  return detection.create_response !== false || (detection.idle_timeout_ms ?? null) !== null
}

/** Whether the client changes settings. */
export function isSettingsUpdate({ type }: JsonObject): boolean {
  return type === 'session.update' || type === 'transcription_session.update'
}

/** Whether the provider says which settings apply. */
export function isSettingsConfirmation({ type }: JsonObject): boolean {
  return type === 'session.created' || type === 'session.updated' || type === 'transcription_session.updated'
}

/** Whether a response belongs to the session's conversation is said in words, where other APIs name one. */
const NO_NAMES: readonly string[] = ['auto', 'none']

/** What the client's event names at the provider. */
export function listEventReferences(event: JsonObject): StoredObjectReference[] {
  return findStoredObjectReferences(event, null).filter(({ id }) => !NO_NAMES.includes(id))
}
