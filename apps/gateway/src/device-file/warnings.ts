import { listTargets } from '../applications/targets.ts'
import { openAddresses } from '../sources/frigate/open-interface.ts'
import type { DeviceFile } from './schema.ts'

/** Warns about values that are valid but unwise; one sentence each. */
export function warningsOf({ applications, sources: { frigate } }: DeviceFile, uiTarget: URL | undefined): string[] {
  return openAddresses(
    frigate,
    listTargets(applications, uiTarget, frigate).map(({ url }) => url),
  )
}
