import { NativeSelect, type NativeSelectProps } from '@mantine/core'
import { useSites } from '#api/sites.ts'

/** A field for one site; `none` says what an empty one means. Without sites there is nothing to choose. */
export function SiteSelect({ none, ...input }: Omit<NativeSelectProps, 'data'> & { none: string }) {
  const { data = [] } = useSites()
  if (data.length === 0) return null
  return (
    <NativeSelect
      label="Site"
      data={[{ value: '', label: none }, ...data.map(({ id, name }) => ({ value: id, label: name }))]}
      {...input}
    />
  )
}
