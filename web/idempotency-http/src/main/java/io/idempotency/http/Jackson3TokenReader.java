package io.idempotency.http;

import java.nio.CharBuffer;

import io.idempotency.http.JsonTokenReader.MalformedJsonException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;

/** Reads tokens with Jackson 3. */
final class Jackson3TokenReader extends JsonTokenReader {

	// Names are not cached across texts, because clients choose them.
	private static final JsonFactory FACTORY = JsonFactory.builder()
		.disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
		.streamReadConstraints(StreamReadConstraints.builder()
			.maxNestingDepth(MAX_DEPTH)
			.maxNumberLength(MAX_NUMBER_LENGTH)
			.maxStringLength(Integer.MAX_VALUE)
			.maxNameLength(Integer.MAX_VALUE)
			.build())
		.build();

	private final JsonParser parser;

	Jackson3TokenReader(CharBuffer json) {
		this.parser = FACTORY.createParser(ObjectReadContext.empty(), json.array(),
				json.arrayOffset() + json.position(), json.remaining());
	}

	@Override
	Kind next() throws MalformedJsonException {
		try {
			JsonToken token = this.parser.nextToken();
			Kind kind = (token != null) ? Kind.of(token.id()) : Kind.END;
			if (kind.isText()) {
				this.characters = this.parser.getStringCharacters();
				this.offset = this.parser.getStringOffset();
				this.length = this.parser.getStringLength();
			}
			return kind;
		}
		catch (JacksonException ex) {
			throw new MalformedJsonException("Malformed at character " + this.parser.currentLocation().getCharOffset());
		}
	}

	@Override
	public void close() {
		this.parser.close();
	}

}
