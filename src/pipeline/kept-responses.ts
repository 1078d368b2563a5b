/** Responses that are kept here for the key that asked, as the database has them: sealed where the project wants that. */
import { refuse } from '../errors/errors.ts'
import type { EarlierItem } from '../formats/responses/earlier-items.ts'
import type { Account } from '../postgres/admit.ts'
import { call, type RowOf } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import type { AnswerSeal } from '../stores/answer-seal.ts'

export type KeptResponse = RowOf<'find_conversation'>

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

export interface KeptResponses {
  /** A response and those before it, as far as they are kept for this key; the first one first. Throws a 503. */
  find(id: string, account: Account): Promise<KeptResponse[]>
  /** Those that items may belong to. Throws a 503. */
  findNamed(items: readonly EarlierItem[], account: Account): Promise<KeptResponse[]>
  /** Rejects where it is not kept. */
  keep(kept: NewResponse, account: Account): Promise<void>
  /** Keeps what has become of one that was unfinished. Rejects as `keep` does. */
  finish(whole: Pick<NewResponse, 'id' | 'response' | 'itemIds'>, account: Account): Promise<void>
}

/** The key that may reach a response. */
export function holderOf({ project_id, key_id }: Pick<Account, 'project_id' | 'key_id'>) {
  return { of_project: project_id, of_key: key_id }
}

export function createKeptResponses({ database, seal }: { database: Database; seal: AnswerSeal }): KeptResponses {
  async function open(reading: Promise<KeptResponse[]>, { project_id }: Account): Promise<KeptResponse[]> {
    const kept = await reading.catch(error => {
      throw refuse('databaseUnavailable', null, error)
    })
    return kept.flatMap(turn => {
      const response = seal.openText(turn.response, project_id)
      const input = turn.input === null ? null : seal.openText(turn.input, project_id)
      // No key opens it any more.
      return response === null ? [] : { ...turn, response, input }
    })
  }

  function sealed(response: string, account: Account): string {
    const text = seal.sealText(response, account)
    if (text === null) throw new Error('seal_answers is on, and there is no ENCRYPTION_KEY')
    return text
  }

  return {
    find: (response_id, account) =>
      open(call(database, 'find_conversation', { ...holderOf(account), response_id }), account),
    async findNamed(items, account) {
      if (items.length === 0) return []
      const names = [...new Set(items.flatMap(item => item.names))]
      const holder = holderOf(account)
      const found = await Promise.all([
        open(call(database, 'find_kept_responses', { ...holder, response_ids: names }), account),
        open(call(database, 'find_item_responses', { ...holder, names }), account),
      ])
      return found.flat()
    },
    async keep({ id, previousId, ownInput, response, askedFor, itemIds, isUnfinished }, account) {
      const own_input = ownInput === null ? null : seal.sealText(ownInput, account)
      const asked = { continued_id: previousId, own_input, asked_for: askedFor }
      const made = { response_id: id, response: sealed(response, account), item_ids: itemIds, unfinished: isUnfinished }
      await call(database, 'keep_response', { ...holderOf(account), ...asked, ...made })
    },
    async finish({ id, response, itemIds }, account) {
      const whole = { response_id: id, response: sealed(response, account), item_ids: itemIds }
      await call(database, 'finish_kept_response', { ...holderOf(account), ...whole })
    },
  }
}
