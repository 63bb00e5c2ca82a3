import { APPLICATION_TITLE_MAX, type Role } from '@hedgerow/contract'
import type { FrigateSettings } from '../sources/frigate/schema.ts'
import { isFrigate } from '../sources/frigate/roles.ts'
import { UI_TARGET_NAME, type ApplicationsSettings, type HeaderMap } from './schema.ts'

export type Target = {
  name: string
  title: string
  url: URL
  leastRole: Role
  headerMap?: HeaderMap | undefined
  certificateFingerprint?: string | undefined
}

/** The applications of gateway.yaml, and the one of `GATEWAY_UI_TARGET` when the file does not list it. */
export function listTargets(
  listed: ApplicationsSettings,
  uiTarget: URL | undefined,
  frigate: FrigateSettings | undefined,
): Target[] {
  const targets = Object.entries(listed).map(([name, { title = name, url, ...rest }]) => ({
    name,
    title,
    url: new URL(url),
    ...rest,
  }))
  if (!uiTarget || targets.some(({ url }) => url.origin === uiTarget.origin)) return targets
  const title = frigate && isFrigate(frigate, uiTarget) ? 'Frigate' : uiTarget.host.slice(0, APPLICATION_TITLE_MAX)
  return [{ name: UI_TARGET_NAME, title, url: uiTarget, leastRole: 'user' }, ...targets]
}
