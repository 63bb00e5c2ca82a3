import { useEffect, useMemo } from 'react'

/** An address of `blob` while the component is mounted. */
export function useObjectUrl(blob: Blob | undefined): string | undefined {
  const address = useMemo(() => blob && URL.createObjectURL(blob), [blob])
  useEffect(() => () => void (address !== undefined && URL.revokeObjectURL(address)), [address])
  return address
}
