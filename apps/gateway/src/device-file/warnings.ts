import { listTargets } from '../applications/targets.ts'
import { openAddresses } from '../sources/frigate/open-interface.ts'
import type { DeviceFile } from './schema.ts'

/** What is valid and unwise in a file: a sentence each. */
export function warningsOf({ applications, sources: { frigate } }: DeviceFile, uiTarget: URL | undefined): string[] {
  return openAddresses(
    frigate,
    listTargets(applications, uiTarget, frigate).map(({ url }) => url),
  )
}
