import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { listCameras, readCameraPicture } from 'virtual:contract-calls'
import { api, messageOf, send } from '#api/client.ts'

const LIST_REFRESH_MS = 15_000

export const useCameras = () =>
  useQuery({
    queryKey: ['gateways', 'cameras'],
    queryFn: ({ signal }) => api(listCameras, { signal }),
    refetchInterval: LIST_REFRESH_MS,
  })

export type Shown = { address: string; takenAt: number }

/** The newest picture, asked for again `everyMs` while `isLookedAt`; the last one stays when the next does not come. */
export function useLivePicture(
  { gatewayId, name }: { gatewayId: string; name: string },
  { isLookedAt, everyMs }: { isLookedAt: boolean; everyMs: number },
): { shown: Shown | undefined; problem: string | undefined } {
  const [shown, setShown] = useState<Shown>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    if (!isLookedAt) return undefined
    const stopped = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async () => {
      try {
        const params = { id: gatewayId, camera: name }
        const answer = await send(readCameraPicture, { params, signal: stopped.signal }, 'image/jpeg')
        const age = Number(answer.headers.get('x-picture-age') ?? 0)
        const address = URL.createObjectURL(await answer.blob())
        setProblem(undefined)
        setShown((before) => {
          if (before) URL.revokeObjectURL(before.address)
          return { address, takenAt: Date.now() - age }
        })
      } catch (error) {
        if (!stopped.signal.aborted) setProblem(messageOf(error))
      }
      if (!stopped.signal.aborted) timer = setTimeout(() => void look(), everyMs)
    }
    void look()
    return () => {
      stopped.abort()
      clearTimeout(timer)
    }
  }, [gatewayId, name, isLookedAt, everyMs])
  return { shown, problem }
}
