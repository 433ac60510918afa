import { XmlDocument, XsdValidator } from 'libxml2-wasm'

/** A validator by the text of an XML Schema, which must be one. */
export function compileXmlSchema (schema: string): { validate: (document: string) => string | undefined, dispose: () => void } {
  const source = XmlDocument.fromString(schema)
  const validator = XsdValidator.fromDoc(source)
  source.dispose()
  return {
    validate (text) {
      const document = XmlDocument.fromString(text)
      try {
        validator.validate(document)
        return undefined
      } catch (error) {
        return (error as Error).message.trim()
      } finally {
        document.dispose()
      }
    },
    dispose () { validator.dispose() }
  }
}
