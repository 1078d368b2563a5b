/** The order in which test files run: what waits beside what computes, and what takes long before what does not. */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Folders whose files mostly wait, for processes, a browser, an interpreter: those that take longest come first. */
const WAITING = ['browser', 'clients/python', 'faults']
/** Folders whose files keep a core and the stores busy. */
const COMPUTING = ['hostile', 'integration', 'clients']

export class FileOrder extends BaseSequencer {
  /** Within a folder, as Vitest has it: the longest of the last run first, or else the largest. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const left = new Set(await super.sort(files))
    const take = (folder: string) => {
      const taken = [...left].filter(file => isIn(file, folder))
      for (const file of taken) left.delete(file)
      return taken
    }
    const waiting = WAITING.flatMap(take)
    const computing = COMPUTING.flatMap(take)
    return [...spread(waiting, computing), ...left]
  }
}

/** Puts these evenly between those, the first of them at the beginning. */
function spread<File>(these: readonly File[], those: readonly File[]): File[] {
  const placed = [
    ...these.map((file, index) => ({ file, at: index / these.length })),
    ...those.map((file, index) => ({ file, at: (index + 0.5) / those.length })),
  ]
  return placed.toSorted((a, b) => a.at - b.at).map(({ file }) => file)
}

function isIn({ moduleId, project }: TestSpecification, folder: string): boolean {
  return relative(project.config.root, moduleId).startsWith(`test/${folder}/`)
}
