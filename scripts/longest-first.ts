import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files whose tests take longer than their size suggests, in the order in which they start. If they started last, one
 * core would keep the others waiting. Projects follow their first file: first those that wait for a broker and cameras,
 * so that others keep the cores busy meanwhile.
 */
const LONG = [
  'test/system/upgrade.test.ts',
  'test/system/release.test.ts',
  'test/system/npm-versions.test.ts',
  'test/system/demo-detector.test.ts',
  'test/e2e/accessibility.test.ts',
  'test/system/deterrent-supervisor.test.ts',
  'test/e2e/fleet-screens.test.ts',
  'test/e2e/people-screens.test.ts',
  'test/interop/netstack-linux.test.ts',
  'test/system/lifecycle.test.ts',
  'test/e2e/device-interface.test.ts',
  'test/system/eye.test.ts',
  'test/system/crash.test.ts',
  'test/system/device-rules.test.ts',
  'test/e2e/public-site.test.ts',
  'test/e2e/portal-flows.test.ts',
  'test/system/commands.test.ts',
  'test/system/demo.test.ts',
  'test/e2e/operation.test.ts',
  'test/e2e/session.test.ts',
  'test/e2e/threats.test.ts',
  'apps/hub/src/home-assistant/home-assistant.test.ts',
  'apps/hub/src/database/small-disk.test.ts',
  'apps/hub/src/http/hostile-input.test.ts',
  'apps/hub/src/accounts/abuse.test.ts',
  'apps/hub/src/database/killed-restore.test.ts',
  'apps/gateway/src/gateway.test.ts',
  'apps/gateway/src/learning/learning.test.ts',
  'apps/gateway/src/hub-door/hub-door.test.ts',
  'packages/vision/src/demonstration/demonstration.test.ts',
  'apps/gateway/src/cameras/rtsp.test.ts',
  'apps/gateway/src/rules/rules.test.ts',
  'apps/gateway/src/recording/recorder.test.ts',
  'apps/gateway/src/sources/frigate/lies.test.ts',
  'packages/netstack/src/node/http.test.ts',
  'packages/vision/src/rendered-scenes.test.ts',
  'packages/http/src/front.test.ts',
]

/**
 * Vitest's order, by earlier durations or otherwise by size, after the long files in their own order. The files of a
 * project that share processes stay together: Vitest ends a process when the next file belongs to another project.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification) => LONG.findIndex((path) => moduleId.endsWith(path))
    const long = sorted.filter((file) => rank(file) >= 0).toSorted((a, b) => rank(a) - rank(b))
    const longFirst = [...long, ...sorted.filter((file) => rank(file) < 0)]
    const byProject = Map.groupBy(longFirst, ({ project }) => (project.config.isolate ? undefined : project))
    return [...byProject.values()].flat()
  }
}
