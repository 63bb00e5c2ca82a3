/**
 * A deterrent that a person tries before gateway.yaml has it. To the interlock it is one like any other, so every rule
 * of safety holds; it goes when it is saved, after some minutes, or when another one is tried.
 */
import { TRIAL_SECONDS } from '@hedgerow/contract/constants'
import type { Place } from '../kernel/hours.ts'
import type { Deterrents } from './deterrents.ts'
import { longestOf, type DeterrentSettings } from './schema.ts'

export type DeterrentTrial = {
  /** Returns how many seconds it may be on. */
  begin(name: string, settings: DeterrentSettings): number
  /** Gives the interlock the deterrents of the file, and the tried one. */
  apply(file: InForce): void
  stop(): void
}

/** What gateway.yaml says. */
type InForce = { deterrents: Readonly<Record<string, DeterrentSettings>>; site: Place }

const LASTS_MS = 10 * 60_000

export function createDeterrentTrial(options: {
  file(): InForce
  deterrents: Pick<Deterrents, 'apply'>
}): DeterrentTrial {
  const { file, deterrents } = options
  let tried: { name: string; settings: DeterrentSettings } | undefined
  let timer: NodeJS.Timeout | undefined

  function apply({ deterrents: own, site }: InForce): void {
    if (tried && Object.hasOwn(own, tried.name)) tried = undefined
    deterrents.apply(tried ? { ...own, [tried.name]: tried.settings } : own, site)
  }

  return {
    begin(name, settings) {
      clearTimeout(timer)
      timer = setTimeout(() => {
        tried = undefined
        apply(file())
      }, LASTS_MS).unref()
      const seconds = Math.min(TRIAL_SECONDS, longestOf(settings))
      tried = { name, settings: { ...settings, seconds, maximumSeconds: seconds } }
      apply(file())
      return seconds
    },
    apply,
    stop: () => clearTimeout(timer),
  }
}
