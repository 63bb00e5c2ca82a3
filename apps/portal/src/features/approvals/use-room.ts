import { useGateways } from '#api/gateways.ts'
import { useHubSettings } from '#api/hub-settings.ts'

/** How many more gateways the hub takes. Without limit while that is unknown: the hub itself refuses. */
export function useRoom(): number {
  const settings = useHubSettings().data
  const gateways = useGateways().data
  if (settings === undefined || gateways === undefined) return Infinity
  return Math.max(0, settings.maxGateways - gateways.length)
}
