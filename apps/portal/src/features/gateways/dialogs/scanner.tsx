import { useEffect, useRef, useState } from 'react'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { createCodeReader, tokenIn } from './scan.ts'
import styles from '../page.module.css'

const LOOK_EVERY_MS = 200

/** Shows the camera until it sees a label with a device token. Unmounting releases the camera. */
export default function Scanner({ onToken }: { onToken: (token: string) => void }) {
  const video = useRef<HTMLVideoElement>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    const screen = video.current
    if (screen === null) return undefined
    const readCode = createCodeReader(screen)
    let stream: MediaStream | undefined
    const controller = new AbortController()
    const { signal } = controller
    const look = async () => {
      const camera = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } })
      stream = camera
      if (signal.aborted) return release(camera)
      screen.srcObject = camera
      await screen.play()
      while (!signal.aborted) {
        const token = tokenIn(readCode() ?? '')
        if (token !== undefined) return onToken(token)
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
      }
      return undefined
    }
    look().catch((error: unknown) => {
      if (signal.aborted) return
      console.warn('The camera did not start:', error)
      setProblem('The camera cannot be used. Allow it for this page in the browser, or type the token.')
    })
    return () => {
      controller.abort()
      if (stream !== undefined) release(stream)
    }
  }, [onToken])
  if (problem !== null) return <Notice tone="warning">{problem}</Notice>
  return (
    <div className={styles.scanner}>
      <video ref={video} muted playsInline aria-label="Camera picture" />
      <p>Hold the gateway’s QR label in front of the camera.</p>
    </div>
  )
}

function release(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop()
}
