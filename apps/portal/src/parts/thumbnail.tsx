import { useThumbnail } from '#api/thumbnail.ts'
import styles from './thumbnail.module.css'

/** A small picture of a detection, beside words that say what it shows. */
export function Thumbnail({ gatewayId, detectionId }: { gatewayId: string; detectionId: string }) {
  const { address } = useThumbnail(gatewayId, detectionId, true)
  return <span className={styles.thumbnail}>{address !== undefined && <img src={address} alt="" />}</span>
}
