/** The order in which test files run: those that take long come first, so that no core is left with one of them at the end. */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Of the folders of test/, those whose files take longest come first: processes, browsers, real waits; then stores; then neither. */
const FOLDERS = ['browser', 'faults', 'integration', 'clients', 'unit', 'standin']

export class FileOrder extends BaseSequencer {
  /** Within a folder, as Vitest has it: the longest of the last run first, or else the largest. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

function placeOf({ moduleId, project }: TestSpecification): number {
  const [, folder = ''] = relative(project.config.root, moduleId).split('/')
  return FOLDERS.indexOf(folder)
}
