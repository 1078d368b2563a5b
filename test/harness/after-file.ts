/** Vitest runs this for every test file: modules are read once a worker, so that none of them can say what ends with a file. */
import { afterAll } from 'vitest'
import { endLeftProcesses } from './left-processes.ts'

afterAll(endLeftProcesses)
