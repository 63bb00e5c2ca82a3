import { NativeSelect, type NativeSelectProps } from '@mantine/core'
import { useSites } from '#api/sites.ts'

type SiteSelectProps = Omit<NativeSelectProps, 'data'> & {
  none: string
  /** An option before the others, for nothing chosen yet. */
  first?: { value: string; label: string }
}

/** A field for one site; `none` says what an empty one means. Without sites there is nothing to choose. */
export function SiteSelect({ none, first, ...input }: SiteSelectProps) {
  const { data = [] } = useSites()
  if (data.length === 0) return null
  return (
    <NativeSelect
      label="Site"
      data={[
        ...(first ? [first] : []),
        { value: '', label: none },
        ...data.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      {...input}
    />
  )
}
