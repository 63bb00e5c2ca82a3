/** The units that the interlock may have to switch: those of gateway.yaml, and former ones until they are off. Pure. */
import { channelOfSaved, type Channel, type LiveFiring } from './live-firing.ts'
import { unitOf, type GuardedUnit, type Instant, type SavedFiring, type SavedState } from './saved-state.ts'
import type { DeterrentSettings } from './schema.ts'

type Settings = Readonly<Record<string, DeterrentSettings>>
type FiringChannel = Channel & { firing: LiveFiring }

export type Channels = {
  /** The units of gateway.yaml, then the retired ones. */
  all(): Channel[]
  /** Units that fired with earlier settings, until they are known to be off. */
  retired(): readonly Channel[]
  /** The channel of a deterrent in gateway.yaml. */
  named(name: string): Channel | undefined
  ofUnit(id: string): Channel | undefined
  /** The channel that has this firing in one of the phases. */
  ofFiring(firing: string, ...phases: LiveFiring['phase'][]): FiringChannel | undefined
  units(): GuardedUnit[]
  /** A unit whose settings stay keeps its channel; one that fires with other settings retires. */
  apply(settings: Settings): void
  /** Drops retired channels that do not fire. */
  dropIdle(): void
  saved(): SavedFiring[]
}

/** `saved` has the firings that an earlier run of the agent left behind. */
export function createChannels({
  settings,
  saved,
  boot,
  now,
}: {
  settings: Settings
  saved: SavedState | undefined
  boot: string
  now: Instant
}): Channels {
  const isSameBoot = saved?.boot === boot
  let current = new Map<string, Channel>()
  let retired = (saved?.firings ?? []).map((firing) =>
    channelOfSaved(firing, { isSameBoot, own: settings[firing.name], now }),
  )
  const all = (): Channel[] => [...current.values(), ...retired]

  function apply(changed: Settings): void {
    const before = all()
    current = new Map(
      Object.entries(changed).map(([name, own]) => {
        const unit = unitOf(name, own)
        const same = before.find((channel) => channel.unit.id === unit.id)
        return [name, same ?? { unit, isOff: false }]
      }),
    )
    const inUse = new Set(current.values())
    retired = before.filter((channel) => !inUse.has(channel) && channel.firing)
  }

  apply(settings)
  return {
    all,
    retired: () => retired,
    named: (name) => current.get(name),
    ofUnit: (id) => all().find(({ unit }) => unit.id === id),
    ofFiring: (id, ...phases) =>
      all().find(
        (channel): channel is FiringChannel => channel.firing?.id === id && phases.includes(channel.firing.phase),
      ),
    units: () => all().map(({ unit, firing }) => ({ ...unit, mayBeOn: firing !== undefined })),
    apply,
    dropIdle() {
      retired = retired.filter((channel) => channel.firing)
    },
    saved: () =>
      all().flatMap(({ unit: { name, settings: driver }, firing }) =>
        firing
          ? [
              {
                id: firing.id,
                name,
                settings: driver,
                by: firing.by,
                seconds: firing.seconds,
                startedAt: firing.startedAt,
              },
            ]
          : [],
      ),
  }
}
