import { useQuery } from '@tanstack/react-query'
import { readDetectionThumbnail } from 'virtual:contract-calls'
import { api } from './client.ts'

/** A detection's picture, as base64 for a `data:` address. It is fetched once. */
export const useThumbnail = (id: string, detectionId: string, wanted: boolean) =>
  useQuery({
    queryKey: ['thumbnail', id, detectionId],
    queryFn: async ({ signal }) => {
      const jpeg = await api(readDetectionThumbnail, { params: { id, detectionId }, signal })
      return { jpeg: base64Of(jpeg) }
    },
    staleTime: Number.POSITIVE_INFINITY,
    enabled: wanted,
  })

function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
