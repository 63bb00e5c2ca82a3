import { queryOptions, useQuery } from '@tanstack/react-query'
import { readDetectionThumbnail } from 'virtual:contract-calls'
import { send } from './client.ts'
import { useObjectUrl } from './object-url.ts'

/** A detection's picture. It is fetched once. */
export const thumbnailQuery = (id: string, detectionId: string) =>
  queryOptions({
    queryKey: ['thumbnail', id, detectionId],
    queryFn: async ({ signal }) => {
      const answer = await send(readDetectionThumbnail, { params: { id, detectionId }, signal }, 'image/jpeg')
      return answer.blob()
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

/** A detection's picture, and its address. */
export function useThumbnail(id: string, detectionId: string, wanted: boolean) {
  const { data: picture, isError } = useQuery({ ...thumbnailQuery(id, detectionId), enabled: wanted })
  return { picture, address: useObjectUrl(picture), isError }
}
