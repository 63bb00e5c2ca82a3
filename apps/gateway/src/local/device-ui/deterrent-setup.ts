/** The calls by which a person sets up a deterrent. Each throws `Refusal`. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { FoundDeterrent, FoundOutput } from '@hedgerow/contract/deterrent-setup'
import { Refusal } from '../../calls/errors.ts'
import type { createParts } from '../../calls/parts.ts'
import type { Deterrents } from '../../deterrents/deterrents.ts'
import { findDeterrents, type Surroundings } from '../../deterrents/discovery/find-deterrents.ts'
import { driverNames, loadDriver } from '../../deterrents/drivers.ts'
import type { DriverType } from '../../deterrents/drivers/driver.ts'
import { readKinds } from '../../deterrents/kinds.ts'
import { unitOf } from '../../deterrents/saved-state.ts'
import type { DeterrentSettings } from '../../deterrents/schema.ts'
import { loadDrivers, opener } from '../../deterrents/supervisor/open-driver.ts'
import type { DeterrentTrial } from '../../deterrents/trial.ts'
import type { WatchedDeviceFile } from '../../device-file/device-file.ts'
import { withoutPath, type DeviceFileEditor } from '../../device-file/editor.ts'
import { inWords } from '../../kernel/failure.ts'
import type { By, createFileChanges } from './file-changes.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { askerOf, signedIn } from './visitor.ts'

export type DeterrentSetupOptions = {
  editor: Pick<DeviceFileEditor, 'deterrent'>
  file: Pick<WatchedDeviceFile, 'current' | 'conceal'>
  trial: Pick<DeterrentTrial, 'begin'>
  /** Where the search looks, in tests. */
  surroundings?: Surroundings | undefined
}

type Written = { driver: string; settings: Record<string, unknown> }

const OUTPUTS_MAX = 256
const NAME_MAX = 100
const OFF_WITHIN_MS = 15_000
const LOOK_AGAIN_MS = 50

export function createDeterrentSetup(
  options: DeterrentSetupOptions & {
    confirm: ReturnType<typeof createFileChanges>['confirm']
    fire: ReturnType<typeof createParts>['fire']
    deterrents: Pick<Deterrents, 'list'>
  },
) {
  const { editor, file, trial, surroundings, deterrents, confirm, fire } = options
  const search = oneAtATime(() => findDeterrents(surroundings))

  /** The keys of the written settings name the fields of their errors. */
  async function checked(name: string, { driver, settings }: Written): Promise<DeterrentSettings> {
    if (!driverNames.includes(driver))
      throw new Refusal('invalid_request', { fieldErrors: { driver: 'There is no such driver.' } })
    const { settings: valid, errors = [] } = await editor.deterrent(name, { ...settings, driver })
    if (valid) return valid
    const fieldErrors = errors.map((error) => [String(error.path?.[2] ?? 'name'), withoutPath(error)])
    throw new Refusal('invalid_request', { fieldErrors: Object.fromEntries(fieldErrors.toReversed()) })
  }

  /** Nothing fires that is not known to be off. Waits for a while; `fire` then tells the reason. */
  async function knownToBeOff(name: string): Promise<void> {
    const until = performance.now() + OFF_WITHIN_MS
    const isUnknown = () =>
      deterrents.list().some((one) => one.name === name && one.state !== 'ready' && one.until === null)
    while (isUnknown() && performance.now() < until) await sleep(LOOK_AGAIN_MS)
  }

  return {
    kinds: readKinds,
    async find(by: By): Promise<FoundDeterrent[]> {
      await confirm(by)
      const found = await search()
      return found.map(({ driver = null, note = null, ...device }) => ({ ...device, driver, note }))
    },
    async outputs(by: By, { driver, settings }: Written): Promise<FoundOutput[]> {
      await confirm(by)
      const any = driverNames.includes(driver) ? (await loadDriver(driver)).anyOutput : {}
      const unit = unitOf('it', await checked('it', { driver, settings: { ...any, ...settings } }))
      const loaded = new Map<string, DriverType>()
      await loadDrivers([unit], loaded)
      const opened = opener(loaded)(unit)
      try {
        const outputs = (await opened.driver.outputs?.(AbortSignal.timeout(opened.answerMs))) ?? []
        return outputs.slice(0, OUTPUTS_MAX).map((output) => ({
          name: output.name.slice(0, NAME_MAX),
          isOn: output.isOn ?? null,
          settings: output.settings,
        }))
      } catch (error) {
        const words = opened.redact(file.conceal(inWords(error)))
        throw new Refusal('deterrent_failed', { message: `${words.charAt(0).toUpperCase()}${words.slice(1)}.` })
      } finally {
        await opened.driver.close?.()
      }
    },
    async fireTrial(by: By, { name, ...written }: Written & { name: string }) {
      await confirm(by)
      if (Object.hasOwn(file.current().deterrents, name)) throw new Refusal('deterrent_exists')
      const seconds = trial.begin(name, await checked(name, written))
      await knownToBeOff(name)
      const { firing } = await fire(name, seconds, askerOf(signedIn(by.caller)))
      return { seconds: firing.seconds, until: firing.until }
    },
  }
}
