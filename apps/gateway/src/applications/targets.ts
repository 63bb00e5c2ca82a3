import { APPLICATION_TITLE_MAX } from '@hedgerow/contract'
import type { FrigateSettings } from '../sources/frigate/schema.ts'
import { isFrigate } from '../sources/frigate/roles.ts'
import { UI_TARGET_NAME, type ApplicationsSettings } from './schema.ts'

export type Target = { name: string; title: string; url: URL; certificateFingerprint?: string | undefined }

/** The applications of gateway.yaml, and the one of `GATEWAY_UI_TARGET` when the file does not list it. */
export function listTargets(
  listed: ApplicationsSettings,
  uiTarget: URL | undefined,
  frigate: FrigateSettings | undefined,
): Target[] {
  const targets = Object.entries(listed).map(([name, { title = name, url, certificateFingerprint }]) => ({
    name,
    title,
    url: new URL(url),
    certificateFingerprint,
  }))
  if (!uiTarget || targets.some(({ url }) => url.origin === uiTarget.origin)) return targets
  const title = frigate && isFrigate(frigate, uiTarget) ? 'Frigate' : uiTarget.host.slice(0, APPLICATION_TITLE_MAX)
  return [{ name: UI_TARGET_NAME, title, url: uiTarget }, ...targets]
}
