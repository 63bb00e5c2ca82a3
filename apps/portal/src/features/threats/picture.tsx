import type { Incident } from '@hedgerow/contract'
import { useCallback } from 'react'
import { useThumbnail } from '#api/thumbnail.ts'
import styles from './threats.module.css'

/** The cover of an incident; its words where there is no picture. */
export function Picture({ incident: { gatewayId, coverId, label, camera } }: { incident: Incident }) {
  return <DetectionPicture gatewayId={gatewayId} id={coverId} words={`${label} at ${camera}`} />
}

/** `id` is null for a detection without a picture. */
export function DetectionPicture({ gatewayId, id, words }: { gatewayId: string; id: string | null; words: string }) {
  const { address, isError } = useThumbnail(gatewayId, id ?? '', id !== null)
  return (
    <span className={styles.picture}>
      {address !== undefined ? (
        <DataImage address={address} alt={words} />
      ) : id === null || isError ? (
        <span className={styles.nothing}>No picture</span>
      ) : null}
    </span>
  )
}

/** React sets `src` a second time when it has mounted a picture, and the browser reads a data URL each time. */
function DataImage({ address, alt }: { address: string; alt: string }) {
  const show = useCallback(
    (image: HTMLImageElement | null) => {
      if (image !== null) image.src = address
    },
    [address],
  )
  return <img ref={show} alt={alt} />
}
