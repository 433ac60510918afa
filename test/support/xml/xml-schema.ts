import { XmlDocument, XsdValidator } from 'libxml2-wasm'

/** Returns a validator for the text of an XML Schema. Throws if the schema is invalid. */
export function compileXmlSchema (schema: string): {
  validate: (document: string) => string | undefined, dispose: () => void
} {
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
