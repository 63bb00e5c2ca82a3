import { useQuery } from '@tanstack/react-query'
import { listCameras, readCameraPicture } from 'virtual:contract-calls'
import { api, send } from './client.ts'
import type { LoadedPicture } from '@hedgerow/ui/live-picture.tsx'

const LIST_REFRESH_MS = 15_000

export const useCameras = ({ enabled = true }: { enabled?: boolean } = {}) =>
  useQuery({
    enabled,
    queryKey: ['gateways', 'cameras'],
    queryFn: ({ signal }) => api(listCameras, { signal }),
    refetchInterval: LIST_REFRESH_MS,
  })

export async function loadCameraPicture(
  { gatewayId, name }: { gatewayId: string; name: string },
  signal: AbortSignal,
): Promise<LoadedPicture> {
  const answer = await send(readCameraPicture, { params: { id: gatewayId, camera: name }, signal }, 'image/jpeg')
  const age = Number(answer.headers.get('x-picture-age') ?? 0)
  return { picture: await answer.blob(), takenAt: Date.now() - age }
}
