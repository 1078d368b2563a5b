/**
 * Stores the provider extras of assistant messages with tool calls (turns) for the calling key, sealed if the project requires it. They are
 * written in the background; until then, this process finds them in memory.
 */
import { withTimeout } from '../../event-loop/timeouts.ts'
import type { StoredTurn } from '../../formats/chat/complete-turns.ts'
import type { NewTurn, ToolTurn } from '../../formats/chat/tool-turns.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { callFunction } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import type { TurnStore } from '../../providers/upstream.ts'
import type { ContentSeal } from '../../stores/content-seal.ts'
import { createBackgroundWriter } from '../../telemetry/background-writer.ts'
import type { Log } from '../../telemetry/log.ts'

type Owner = Pick<ResolvedKey, 'project_id' | 'key_id' | 'seal_answers'>

export interface StoredTurns {
  /** Returns the turns of a key. `endUser` is the end user as in records; null if the request names none. */
  open(owner: Owner, endUser: string | null): TurnStore
  /** Resolves when everything has been written, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

interface StoredTurnsOptions {
  database: Database
  seal: ContentSeal
  log: Pick<Log, 'failures'>
}

/** A row of stored_turns. */
interface TurnRow {
  project_id: number
  key_id: number
  name: string
  made_by: string
  digest: string
  extras: string
  end_user: string | null
}

/** A turn that waits to be written. */
interface WaitingTurn extends Omit<StoredTurn, 'extras'>, NewTurn {}

/** When more characters wait to be written, turns are dropped, so that a slow database does not fill the memory. */
const MAX_WAITING_CHARS = 32 * 1_048_576
const FIND_TIMEOUT_MS = 1_000
const ROW_NAME = 'the reasoning of a tool call'

export function createStoredTurns(options: StoredTurnsOptions): StoredTurns {
  const { database, seal, log } = options
  const unwritten = createTurnWriter(options)

  async function read(turns: readonly ToolTurn[], { project_id, key_id }: Owner): Promise<StoredTurn[]> {
    const asked = turns.flatMap(({ names, digest }) => names.map(name => ({ name, digest })))
    const owner = { of_project: project_id, of_key: key_id }
    const lists = { names: asked.map(({ name }) => name), digests: asked.map(({ digest }) => digest) }
    const rows = await withTimeout(FIND_TIMEOUT_MS, callFunction(database, 'find_stored_turns', { ...owner, ...lists }))
    return rows.flatMap(({ name, made_by: madeBy, extras }): StoredTurn[] => {
      const json = extras === null ? 'null' : seal.openText(extras, project_id)
      // The encryption key of this turn is no longer configured.
      return json === null ? [] : [{ name, madeBy, extras: JSON.parse(json) }]
    })
  }

  return {
    open: (owner, endUser) => ({
      async find(turns) {
        const newest = await unwritten.find(turns, owner)
        const written = await read(turns, owner).catch(error => {
          log.failures.report('stored_objects', error, `${ROW_NAME} could not be read`, { part: ROW_NAME })
          return []
        })
        return [...newest, ...written]
      },
      store: (turn, madeBy) => unwritten.add(turn, { ...owner, madeBy, endUser }),
    }),
    drain: unwritten.drain,
  }
}

interface TurnOrigin extends Owner {
  madeBy: string
  endUser: string | null
}

/** Writes turns in the background, and finds those that are not written yet. */
function createTurnWriter({ database, seal, log }: StoredTurnsOptions) {
  let waitingChars = 0
  /** Turns that wait to be written, by key. */
  const waiting = new Map<number, Set<WaitingTurn>>()
  /** Turns that a worker still describes, by key. */
  const described = new Map<number, Set<Promise<unknown>>>()
  const writer = createBackgroundWriter<TurnRow>({
    failure: 'stored_objects',
    rowName: ROW_NAME,
    write: async turns => void (await callFunction(database, 'store_turns', { turns })),
    maxRows: 100,
    timeLimitMs: 10_000,
    log,
  })
  const reportLoss = (error: unknown) =>
    log.failures.report('stored_objects', error, `${ROW_NAME} was not stored`, { part: ROW_NAME })

  function write(turn: NewTurn, { project_id, key_id, seal_answers, madeBy, endUser }: TurnOrigin): void {
    const extras = seal.sealText(JSON.stringify(turn.extras), { project_id, seal_answers })
    if (extras === null) throw new Error('seal_answers is on, but ENCRYPTION_KEY is not set; set it')
    if (waitingChars + extras.length > MAX_WAITING_CHARS) throw new Error('too many turns wait to be written')
    waitingChars += extras.length
    const remove = addTo(waiting, key_id, { ...turn, madeBy })
    const { name, digest } = turn
    const row = { project_id, key_id, name, made_by: madeBy, digest, extras, end_user: endUser }
    void writer.add(Promise.resolve(row)).then(() => {
      waitingChars -= extras.length
      remove()
    })
  }

  return {
    add(turn: Promise<NewTurn | null>, origin: TurnOrigin): void {
      const writing = turn.then(each => each && write(each, origin)).catch(reportLoss)
      const remove = addTo(described, origin.key_id, writing)
      void writing.then(remove)
    },
    /** Returns the newest turns first. */
    async find(turns: readonly ToolTurn[], { key_id }: Owner): Promise<StoredTurn[]> {
      await Promise.all(described.get(key_id) ?? [])
      const digests = new Map(turns.flatMap(({ names, digest }) => names.map(name => [name, digest])))
      return [...(waiting.get(key_id) ?? [])].reverse().flatMap(({ name, madeBy, digest, extras }): StoredTurn[] => {
        const sent = digests.get(name)
        return sent === undefined ? [] : [{ name, madeBy, extras: sent === digest ? null : extras }]
      })
    },
    async drain(timeLimitMs: number): Promise<void> {
      await Promise.all([...described.values()].flatMap(each => [...each]))
      await writer.drain(timeLimitMs)
    },
  }
}

/** Adds an item to the set of a key. Returns a function that removes it. */
function addTo<Item>(sets: Map<number, Set<Item>>, key: number, item: Item): () => void {
  const set = sets.get(key) ?? new Set()
  sets.set(key, set.add(item))
  return () => {
    set.delete(item)
    if (set.size === 0 && sets.get(key) === set) sets.delete(key)
  }
}
