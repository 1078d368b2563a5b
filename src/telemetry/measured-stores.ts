/** Measures the calls of both stores. */
import type { Database } from '../postgres/database.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { type Distribution, type Metrics, observe } from './metrics.ts'

const SECONDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** Runs a call and notes its time. */
type Timed = <T>(call: string, run: () => Promise<T>) => Promise<T>

export interface Stores {
  database: Database
  store: FastStore
}

/** The same stores, whose calls are noted with their names and times. One call may serve many requests. */
export function measureStores({ database, store }: Stores, metrics: Metrics): Stores {
  const help = 'Calls of the stores; one call may serve many requests.'
  const seconds = metrics.histogram('model_proxy_store_duration_seconds', help, SECONDS, ['store', 'call'])
  const timeCalls = (name: string) => timeInto(remembered(call => seconds.with(name, call)))
  return { database: measureDatabase(database, timeCalls('postgres')), store: measureStore(store, timeCalls('redis')) }
}

/** Calls of SQL functions, by the function's name. */
function measureDatabase(database: Database, timed: Timed): Database {
  return {
    ...database,
    call: (text, values, options) => timed(nameStatement(text), () => database.call(text, values, options)),
  }
}

/** Statements are constant. */
const nameStatement = remembered(text => text.match(/\b([a-z_]+)\s*\(\s*\$1/)?.[1] ?? 'other')

function measureStore(store: FastStore, timed: Timed): FastStore {
  return {
    ...store,
    pass: batch => timed('pass', () => store.pass(batch)),
    uncount: (...args) => timed('uncount', () => store.uncount(...args)),
    writeEntry: (...args) => timed('write_entry', () => store.writeEntry(...args)),
    readEntries: names => timed('read_entries', () => store.readEntries(names)),
    writeEntries: entries => timed('write_entries', () => store.writeEntries(entries)),
  }
}

/** For as many texts as there are places in the code. */
function remembered<T>(find: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>()
  return name => {
    const found = known.get(name) ?? find(name)
    known.set(name, found)
    return found
  }
}

function timeInto(seriesOf: (call: string) => Distribution): Timed {
  return async (call, run) => {
    const startedAtMs = performance.now()
    try {
      return await run()
    } finally {
      observe(seriesOf(call), SECONDS, (performance.now() - startedAtMs) / 1000)
    }
  }
}
