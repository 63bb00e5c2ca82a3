import { useQuery } from '@tanstack/react-query'
import { readDetectionThumbnail } from 'virtual:contract-calls'
import { api } from './client.ts'

/** A detection's picture never changes, so it is asked for once. */
export const useThumbnail = (id: string, detectionId: string, wanted: boolean) =>
  useQuery({
    queryKey: ['thumbnail', id, detectionId],
    queryFn: ({ signal }) => api(readDetectionThumbnail, { params: { id, detectionId }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: wanted,
  })
