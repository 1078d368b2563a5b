/** Responses that the database stores for the calling key; sealed if the project requires it. */
import { createError } from '../../errors/errors.ts'
import type { PreviousItem } from '../../formats/responses/item-references.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { callFunction, type RowOf } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import type { ContentSeal } from '../../stores/content-seal.ts'

export type StoredResponse = RowOf<'find_conversation'>

interface NewResponse {
  id: string
  previousId: string | null
  /** Null if it is too long to be stored. */
  ownInput: string | null
  response: string
  /** The end user as in records; null if the request names none. */
  askedFor: string | null
  itemIds: string[]
  isUnfinished: boolean
}

export interface StoredResponses {
  /** Returns a response and the previous ones that are stored for this key, oldest first. Throws a 503. */
  find(id: string, resolvedKey: ResolvedKey): Promise<StoredResponse[]>
  /** Returns the responses that the items may belong to. Throws a 503. */
  findReferenced(items: readonly PreviousItem[], resolvedKey: ResolvedKey): Promise<StoredResponse[]>
  /** Rejects if the response could not be stored. */
  store(response: NewResponse, resolvedKey: ResolvedKey): Promise<void>
  /** Stores the completed form of an unfinished response. Rejects if it could not be stored. */
  finish(response: Pick<NewResponse, 'id' | 'response' | 'itemIds'>, resolvedKey: ResolvedKey): Promise<void>
}

/** Returns the key that may access a response, as arguments of SQL functions. */
export function responseOwnerOf({ project_id, key_id }: Pick<ResolvedKey, 'project_id' | 'key_id'>) {
  return { of_project: project_id, of_key: key_id }
}

export function createStoredResponses({ database, seal }: { database: Database; seal: ContentSeal }): StoredResponses {
  async function open(reading: Promise<StoredResponse[]>, { project_id }: ResolvedKey): Promise<StoredResponse[]> {
    const rows = await reading.catch(error => {
      throw createError('databaseUnavailable', null, error)
    })
    return rows.flatMap(row => {
      const response = seal.openText(row.response, project_id)
      const input = row.input === null ? null : seal.openText(row.input, project_id)
      // The encryption key of this response is no longer configured.
      return response === null ? [] : { ...row, response, input }
    })
  }

  function sealResponse(response: string, resolvedKey: ResolvedKey): string {
    const text = seal.sealText(response, resolvedKey)
    if (text === null)
      throw new Error('response cannot be sealed: seal_answers is on, but ENCRYPTION_KEY is not set; set it')
    return text
  }

  return {
    find: (response_id, resolvedKey) =>
      open(callFunction(database, 'find_conversation', { ...responseOwnerOf(resolvedKey), response_id }), resolvedKey),
    async findReferenced(items, resolvedKey) {
      if (items.length === 0) return []
      const names = [...new Set(items.flatMap(item => item.lookupNames))]
      const owner = responseOwnerOf(resolvedKey)
      const found = await Promise.all([
        open(callFunction(database, 'find_stored_responses', { ...owner, response_ids: names }), resolvedKey),
        open(callFunction(database, 'find_responses_by_item', { ...owner, names }), resolvedKey),
      ])
      return found.flat()
    },
    async store({ id, previousId, ownInput, response, askedFor, itemIds, isUnfinished }, resolvedKey) {
      const own_input = ownInput === null ? null : seal.sealText(ownInput, resolvedKey)
      const origin = { continued_id: previousId, own_input, of_user: askedFor }
      const content = {
        response_id: id,
        response: sealResponse(response, resolvedKey),
        item_ids: itemIds,
        unfinished: isUnfinished,
      }
      await callFunction(database, 'store_response', { ...responseOwnerOf(resolvedKey), ...origin, ...content })
    },
    async finish({ id, response, itemIds }, resolvedKey) {
      const completed = { response_id: id, response: sealResponse(response, resolvedKey), item_ids: itemIds }
      await callFunction(database, 'complete_stored_response', { ...responseOwnerOf(resolvedKey), ...completed })
    },
  }
}
