package io.idempotency.web;

import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;

/**
 * Encodes what is written at once and keeps nothing back: who completes an asynchronous
 * request need not flush its writer, and tells nobody that could.
 */
final class UnbufferedWriter extends Writer {

	private final OutputStream out;

	private final OutputStreamWriter encoder;

	UnbufferedWriter(OutputStream out, String encoding) throws IOException {
		this.out = out;
		this.encoder = new OutputStreamWriter(new Bytes(out), encoding);
	}

	@Override
	public void write(int character) throws IOException {
		this.encoder.write(character);
		this.encoder.flush();
	}

	@Override
	public void write(char[] characters, int offset, int length) throws IOException {
		this.encoder.write(characters, offset, length);
		this.encoder.flush();
	}

	@Override
	public void write(String text, int offset, int length) throws IOException {
		this.encoder.write(text, offset, length);
		this.encoder.flush();
	}

	@Override
	public void flush() throws IOException {
		this.out.flush();
	}

	@Override
	public void close() throws IOException {
		this.encoder.close();
		this.out.close();
	}

	/** A flush of the encoder is ours, not the handler's. */
	private static final class Bytes extends OutputStream {

		private final OutputStream out;

		Bytes(OutputStream out) {
			this.out = out;
		}

		@Override
		public void write(int value) throws IOException {
			this.out.write(value);
		}

		@Override
		public void write(byte[] bytes, int offset, int length) throws IOException {
			this.out.write(bytes, offset, length);
		}

	}

}
