package io.idempotency.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.CharBuffer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import io.idempotency.http.JsonTokenReader.MalformedJsonException;

/** Reads tokens with Jackson 2. */
final class Jackson2TokenReader extends JsonTokenReader {

	// Names are not cached across texts, because clients choose them.
	private static final JsonFactory FACTORY = JsonFactory.builder()
		.disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
		.streamReadConstraints(StreamReadConstraints.builder()
			.maxNestingDepth(MAX_DEPTH)
			.maxNumberLength(MAX_NUMBER_LENGTH)
			.maxStringLength(Integer.MAX_VALUE)
			.maxNameLength(Integer.MAX_VALUE)
			.build())
		.build();

	private final JsonParser parser;

	Jackson2TokenReader(CharBuffer json) {
		try {
			this.parser = FACTORY.createParser(json.array(), json.arrayOffset() + json.position(), json.remaining());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	Kind next() throws MalformedJsonException {
		try {
			JsonToken token = this.parser.nextToken();
			Kind kind = (token != null) ? Kind.of(token.id()) : Kind.END;
			if (kind.isText()) {
				this.characters = this.parser.getTextCharacters();
				this.offset = this.parser.getTextOffset();
				this.length = this.parser.getTextLength();
			}
			return kind;
		}
		catch (IOException ex) {
			throw new MalformedJsonException("Malformed at character " + this.parser.currentLocation().getCharOffset());
		}
	}

	@Override
	public void close() {
		try {
			this.parser.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
