import type { DeviceCall } from '@hedgerow/contract'
import { errorsOfEveryDeviceCall, type DeviceErrorCode } from '@hedgerow/contract/device-errors'
import { assert } from 'vitest'

/** Who calls is refused before the call itself is known. */
const OF_CALLERS: readonly DeviceErrorCode[] = [
  'browser_refused',
  'api_not_configured',
  'token_required',
  'cross_site',
  'not_signed_in',
  'role_required',
]

/** Fails when a call answers with a refusal that its contract does not name. */
export function checkDeclared(
  calls: Readonly<Record<string, DeviceCall>>,
  { base, method, path, code }: { base: string; method: string; path: string; code: unknown },
): void {
  const [address = ''] = path.split('?', 1)
  const call = Object.values(calls).find(
    (each) => each.method === method && new RegExp(`^${base}${each.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(address),
  )
  if (!call || typeof code !== 'string') return
  const declared: readonly string[] = [...errorsOfEveryDeviceCall, ...OF_CALLERS, ...(call.errors ?? [])]
  assert(declared.includes(code), `${method} ${call.path} declares ${code}`)
}
