package io.idempotency.web;

import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;

/** Writes into the body of an answer, which holds the bytes or passes them through. */
final class HeldOutputStream extends ServletOutputStream {

	private final HeldBody body;

	HeldOutputStream(HeldBody body) {
		this.body = body;
	}

	@Override
	public void write(int value) throws IOException {
		this.body.write(new byte[] { (byte) value }, 0, 1);
	}

	@Override
	public void write(byte[] bytes, int offset, int length) throws IOException {
		this.body.write(bytes, offset, length);
	}

	@Override
	public void flush() throws IOException {
		this.body.flush();
	}

	@Override
	public void close() throws IOException {
		this.body.closeStream();
	}

	@Override
	public boolean isReady() {
		if (!passesThrough()) {
			return true;
		}
		try {
			return this.body.target().isReady();
		}
		catch (IOException ex) {
			// The next write throws the exception.
			return true;
		}
	}

	private boolean passesThrough() {
		return this.body.mode() == HeldBody.Mode.PASS || this.body.mode() == HeldBody.Mode.STREAM;
	}

	/**
	 * Makes the answer a stream, because only a stream can wait until the container has
	 * room for more bytes and calls the listener.
	 */
	@Override
	public void setWriteListener(WriteListener listener) {
		try {
			this.body.stream();
			if (passesThrough()) {
				this.body.target().setWriteListener(listener);
			}
			else {
				listener.onWritePossible();
			}
		}
		catch (IOException ex) {
			listener.onError(ex);
		}
	}

	/**
	 * Encodes text at once and keeps nothing back. Code that completes an asynchronous
	 * request need not flush its writer, and no other code learns of the completion in
	 * time to flush it.
	 */
	static final class UnbufferedWriter extends Writer {

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

		/**
		 * Does not pass on a flush of the encoder, because it comes from this class and
		 * not from the handler.
		 */
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

}
