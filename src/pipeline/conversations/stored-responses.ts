/** Responses that are kept here for the key that asked, as the database has them: sealed where the project wants that. */
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
  /** Null: too long to be kept. */
  ownInput: string | null
  response: string
  /** The end user, as records name it; null: nobody was named. */
  askedFor: string | null
  itemIds: string[]
  isUnfinished: boolean
}

export interface StoredResponses {
  /** A response and those before it, as far as they are kept for this key; the first one first. Throws a 503. */
  find(id: string, resolvedKey: ResolvedKey): Promise<StoredResponse[]>
  /** Those that items may belong to. Throws a 503. */
  findReferenced(items: readonly PreviousItem[], resolvedKey: ResolvedKey): Promise<StoredResponse[]>
  /** Rejects where it is not kept. */
  store(kept: NewResponse, resolvedKey: ResolvedKey): Promise<void>
  /** Keeps what has become of one that was unfinished. Rejects as `keep` does. */
  finish(whole: Pick<NewResponse, 'id' | 'response' | 'itemIds'>, resolvedKey: ResolvedKey): Promise<void>
}

/** The key that may reach a response. */
export function responseOwnerOf({ project_id, key_id }: Pick<ResolvedKey, 'project_id' | 'key_id'>) {
  return { of_project: project_id, of_key: key_id }
}

export function createStoredResponses({ database, seal }: { database: Database; seal: ContentSeal }): StoredResponses {
  async function open(reading: Promise<StoredResponse[]>, { project_id }: ResolvedKey): Promise<StoredResponse[]> {
    const kept = await reading.catch(error => {
      throw createError('databaseUnavailable', null, error)
    })
    return kept.flatMap(turn => {
      const response = seal.openText(turn.response, project_id)
      const input = turn.input === null ? null : seal.openText(turn.input, project_id)
      // No key opens it any more.
      return response === null ? [] : { ...turn, response, input }
    })
  }

  function sealed(response: string, resolvedKey: ResolvedKey): string {
    const text = seal.sealText(response, resolvedKey)
    if (text === null) throw new Error('seal_answers is on, and there is no ENCRYPTION_KEY')
    return text
  }

  return {
    find: (response_id, account) =>
      open(callFunction(database, 'find_conversation', { ...responseOwnerOf(account), response_id }), account),
    async findReferenced(items, account) {
      if (items.length === 0) return []
      const names = [...new Set(items.flatMap(item => item.lookupNames))]
      const holder = responseOwnerOf(account)
      const found = await Promise.all([
        open(callFunction(database, 'find_stored_responses', { ...holder, response_ids: names }), account),
        open(callFunction(database, 'find_responses_by_item', { ...holder, names }), account),
      ])
      return found.flat()
    },
    async store({ id, previousId, ownInput, response, askedFor, itemIds, isUnfinished }, account) {
      const own_input = ownInput === null ? null : seal.sealText(ownInput, account)
      const asked = { continued_id: previousId, own_input, asked_for: askedFor }
      const made = { response_id: id, response: sealed(response, account), item_ids: itemIds, unfinished: isUnfinished }
      await callFunction(database, 'store_response', { ...responseOwnerOf(account), ...asked, ...made })
    },
    async finish({ id, response, itemIds }, account) {
      const whole = { response_id: id, response: sealed(response, account), item_ids: itemIds }
      await callFunction(database, 'complete_stored_response', { ...responseOwnerOf(account), ...whole })
    },
  }
}
