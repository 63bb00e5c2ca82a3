import { queryOptions, useQuery } from '@tanstack/react-query'
import { fetchThumbnail } from './thumbnail-batches.ts'

const DATA_URL = 'data:image/jpeg;base64,'

/** A detection's picture, fetched once. A data URL, because making an address for a blob takes longer. */
export const thumbnailQuery = (id: string, detectionId: string) =>
  queryOptions({
    queryKey: ['thumbnail', id, detectionId],
    queryFn: async () => DATA_URL + (await fetchThumbnail(id, detectionId)),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The address of a detection's picture. */
export function useThumbnail(id: string, detectionId: string, wanted: boolean) {
  const { data: address, isError } = useQuery({ ...thumbnailQuery(id, detectionId), enabled: wanted })
  return { address, isError }
}

/** The picture at such an address, as a file. */
export function pictureAt(address: string): Blob {
  return new Blob([Uint8Array.fromBase64(address.slice(DATA_URL.length))], { type: 'image/jpeg' })
}
