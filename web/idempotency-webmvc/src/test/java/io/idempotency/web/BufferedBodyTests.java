package io.idempotency.web;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What of a body reaches the client, and when. */
class BufferedBodyTests {

	private final Client client = new Client();

	private final BufferingResponse response = new BufferingResponse(this.client);

	@Test
	void nothingOfABodyOfExactlyTheLimitIsSeenBeforeThePush() throws IOException {
		this.response.hold(4);
		write("ab");
		write("cd");
		assertThat(this.client.received()).isEmpty();
		assertThat(this.response.isHeld()).isTrue();
		this.response.push();
		assertThat(this.client.received()).isEqualTo("abcd");
		assertThat(this.client.getContentLength()).isEqualTo(4);
	}

	@Test
	void lengthThatIsNoNumberIsLeftToTheContainer() {
		List<@Nullable String> lengths = new ArrayList<>();
		BufferingResponse held = new BufferingResponse(new HttpServletResponseWrapper(this.client) {

			@Override
			public void setHeader(String name, @Nullable String value) {
				lengths.add(value);
			}

		});
		held.hold(4);
		held.setHeader("Content-Length", "many");
		held.setHeader("Content-Length", " 2 ");
		assertThat(lengths).containsExactly("many");
	}

	@Test
	void bodyOverTheLimitPassesThroughButForItsLastByte() throws IOException {
		this.response.hold(4);
		write("abc");
		write("de");
		assertThat(this.response.isHeld()).isFalse();
		assertThat(this.client.received()).isEqualTo("abcd");
		assertThat(kept()).as("bytes that have left take no room").isZero();
		write("f");
		assertThat(this.client.received()).isEqualTo("abcde");
		this.response.push();
		assertThat(this.client.received()).isEqualTo("abcdef");
		this.response.push();
		assertThat(this.client.received()).isEqualTo("abcdef");
	}

	@Test
	void bodyThatIsOverTheLimitAtOncePassesThroughButForItsLastByte() throws IOException {
		this.response.hold(2);
		write("abc");
		assertThat(this.client.received()).isEqualTo("ab");
		this.response.push();
		assertThat(this.client.received()).isEqualTo("abc");
	}

	@Test
	void partOfAnArrayIsTakenWithoutItsNeighbours() throws IOException {
		byte[] bytes = "-abcd-".getBytes(StandardCharsets.ISO_8859_1);
		this.response.hold(3);
		this.response.getOutputStream().write(bytes, 1, 2);
		this.response.getOutputStream().write(bytes, 3, 2);
		assertThat(this.client.received()).isEqualTo("abc");
		this.response.push();
		assertThat(this.client.received()).isEqualTo("abcd");
	}

	/** A zero would be taken for none, a negative number for the end. */
	@Test
	void lastByteMayBeAnyByte() throws IOException {
		for (int last : new int[] { 0, 0x7F, 0x80, 0xFF }) {
			Client one = new Client();
			BufferingResponse over = new BufferingResponse(one);
			over.hold(0);
			over.getOutputStream().write(new byte[] { 'a', (byte) last });
			assertThat(one.bytes.toByteArray()).containsExactly('a');
			over.getOutputStream().write(last);
			assertThat(one.bytes.toByteArray()).containsExactly('a', last);
			over.push();
			assertThat(one.bytes.toByteArray()).containsExactly('a', last, last);
		}
	}

	@Test
	void emptyWriteSendsNothing() throws IOException {
		this.response.hold(2);
		write("abc");
		write("");
		assertThat(this.client.received()).isEqualTo("ab");
		this.response.push();
		assertThat(this.client.received()).isEqualTo("abc");
	}

	@Test
	void declaredLengthIsToldBeforeTheFirstByteOverTheLimit() throws IOException {
		this.response.hold(2);
		this.response.setContentLength(3);
		assertThat(this.client.getContentLength()).isZero();
		write("abc");
		assertThat(this.client.getContentLength()).isEqualTo(3);
		assertThat(this.client.lengthAtFirstByte).isEqualTo(3);
	}

	@Test
	void flushThatWasHeldBackIsRepeatedWhenTheBodyIsTooLarge() throws IOException {
		this.response.hold(2);
		write("a");
		this.response.flushBuffer();
		assertThat(this.client.flushes).isZero();
		write("bc");
		assertThat(this.client.flushes).isOne();
		this.response.getOutputStream().flush();
		assertThat(this.client.flushes).isEqualTo(2);
		assertThat(this.client.received()).as("a flush never sends the last byte").isEqualTo("ab");
	}

	@Test
	void bodyThatIsTooLargeIsNotFlushedUnasked() throws IOException {
		this.response.hold(2);
		write("abc");
		assertThat(this.client.flushes).isZero();
	}

	@Test
	void flushThatWasHeldBackIsRepeatedWithThePush() throws IOException {
		this.response.hold(2);
		write("a");
		this.response.getOutputStream().flush();
		assertThat(this.client.flushes).isZero();
		this.response.push();
		assertThat(this.client.flushes).isOne();
	}

	@Test
	void pushFlushesNothingUnasked() throws IOException {
		this.response.hold(2);
		write("a");
		this.response.push();
		assertThat(this.client.flushes).isZero();
	}

	@Test
	void clientThatHangsUpOverTheLimitIsNotTheHandlersMatter() throws IOException {
		this.response.hold(2);
		this.client.gone = true;
		write("abc");
		assertThat(this.client.attempts).isOne();
		assertThatCode(() -> {
			write("def");
			this.response.flushBuffer();
			this.response.push();
		}).doesNotThrowAnyException();
		assertThat(this.client.attempts).as("nothing more is sent to a client that has gone").isOne();
		assertThat(this.response.isStreaming()).isFalse();
	}

	@Test
	void clientThatHangsUpAtAFlushOverTheLimitIsNotTheHandlersMatter() throws IOException {
		this.response.hold(2);
		write("abc");
		this.client.gone = true;
		this.response.flushBuffer();
		write("d");
		assertThat(this.client.attempts).as("the bytes, then the flush").isEqualTo(2);
	}

	@Test
	void handlerOfAStreamIsToldThatItsClientHasGone() throws IOException {
		this.response.hold(2);
		this.response.stream();
		this.client.gone = true;
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> write("a"));
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.response.flushBuffer());
	}

	@Test
	void streamSendsWhatIsHeldAndHoldsNothingBackAnyMore() throws IOException {
		this.response.hold(4);
		this.response.setContentLength(9);
		write("ab");
		this.response.stream();
		assertThat(this.client.received()).isEqualTo("ab");
		assertThat(this.client.lengthAtFirstByte).isEqualTo(9);
		assertThat(this.client.flushes).isZero();
		assertThat(this.response.isStreaming()).isTrue();
		assertThat(this.response.isHeld()).isFalse();
		assertThat(kept()).as("bytes that have left take no room").isZero();
		write("cde");
		assertThat(this.client.received()).isEqualTo("abcde");
		this.response.flushBuffer();
		assertThat(this.client.flushes).isOne();
		this.response.push();
		assertThat(this.client.received()).isEqualTo("abcde");
	}

	/** On Servlet 6.1 the wrapper of the container sends these redirects by itself. */
	@Test
	void buffersRedirectsOfServlet61() throws IOException {
		this.response.hold(4);
		this.response.sendRedirect("/there", 303);
		assertThat(this.client.getHeader("Location")).isNull();
		assertThat(this.response.getStatus()).isEqualTo(303);
		this.response.push();
		assertThat(this.client.getStatus()).isEqualTo(303);
		assertThat(this.client.getHeader("Location")).isEqualTo("/there");
	}

	@Test
	void buffersRedirectOfServlet61ThatKeepsTheBody() throws IOException {
		this.response.hold(4);
		write("ab");
		this.response.sendRedirect("/there", false);
		assertThat(this.client.received()).isEmpty();
		this.response.push();
		assertThat(this.client.getStatus()).isEqualTo(302);
		assertThat(this.client.received()).isEqualTo("ab");
	}

	@Test
	void keepsTheEncodingOfAWriter() throws IOException {
		this.response.hold(4);
		this.response.setCharacterEncoding(StandardCharsets.UTF_8);
		this.response.getWriter().print("ä");
		this.response.setCharacterEncoding(StandardCharsets.UTF_16);
		assertThat(this.response.getCharacterEncoding()).isEqualTo("UTF-8");
		this.response.push();
		assertThat(this.client.bytes.toByteArray()).isEqualTo("ä".getBytes(StandardCharsets.UTF_8));
	}

	/** The container is asked for its stream by whoever writes first. */
	@Test
	void streamOfNothingOpensNothing() throws IOException {
		this.response.hold(4);
		this.response.stream();
		assertThat(this.client.opened).isZero();
	}

	@Test
	void streamRepeatsAFlushThatWasHeldBack() throws IOException {
		this.response.hold(4);
		write("ab");
		this.response.flushBuffer();
		this.response.stream();
		assertThat(this.client.flushes).isOne();
	}

	@Test
	void streamThatBeganOverTheLimitSendsItsTail() throws IOException {
		this.response.hold(2);
		write("abc");
		this.response.stream();
		assertThat(this.client.received()).isEqualTo("abc");
		assertThat(this.response.isStreaming()).isTrue();
		write("de");
		assertThat(this.client.received()).isEqualTo("abcde");
		this.response.push();
		assertThat(this.client.received()).isEqualTo("abcde");
	}

	@Test
	void answerThatTurnsOutToBeAStreamIsOneFromTheNextByteOn() throws IOException {
		this.response.hold(4);
		write("a");
		this.response.streamIf(() -> true);
		assertThat(this.client.received()).isEmpty();
		write("b");
		assertThat(this.client.received()).isEqualTo("ab");
		assertThat(this.response.isStreaming()).isTrue();
	}

	@Test
	void answerThatTurnsOutToBeAStreamIsOneFromTheNextFlushOn() throws IOException {
		this.response.hold(4);
		write("a");
		this.response.streamIf(() -> true);
		this.response.flushBuffer();
		assertThat(this.client.received()).isEqualTo("a");
		assertThat(this.client.flushes).isOne();
		assertThat(this.response.isStreaming()).isTrue();
	}

	@Test
	void answerThatIsNoStreamAfterAllIsHeld() throws IOException {
		this.response.hold(4);
		this.response.streamIf(() -> false);
		write("a");
		this.response.flushBuffer();
		assertThat(this.client.received()).isEmpty();
		assertThat(this.response.isHeld()).isTrue();
	}

	@Test
	void answerThatIsTooLargeTurnsIntoNoStreamByItself() throws IOException {
		this.response.hold(1);
		write("ab");
		this.response.streamIf(() -> true);
		write("c");
		this.response.flushBuffer();
		assertThat(this.client.received()).isEqualTo("ab");
		assertThat(this.response.isStreaming()).isFalse();
	}

	@Test
	void closedAnswerDropsWhatWasHeldAndWhatComesLater() throws IOException {
		this.response.hold(4);
		write("ab");
		this.response.close();
		assertThat(kept()).isZero();
		write("cdefgh");
		this.response.flushBuffer();
		this.response.stream();
		this.response.push();
		assertThat(this.client.received()).isEmpty();
		assertThat(this.client.flushes).isZero();
		assertThat(this.response.isStreaming()).isFalse();
	}

	@Test
	void answerThatIsHeldElsewherePassesThroughHere() throws IOException {
		this.response.hold(4);
		write("ab");
		this.response.pass();
		assertThat(this.client.received()).isEmpty();
		assertThat(kept()).isZero();
		write("cd");
		assertThat(this.client.received()).isEqualTo("cd");
		this.response.getOutputStream().flush();
		assertThat(this.client.flushes).isOne();
		this.response.flushBuffer();
		assertThat(this.client.flushes).isEqualTo(2);
		this.response.stream();
		assertThat(this.response.isStreaming()).as("nothing is held that could be a stream").isFalse();
	}

	/** Bytes on their way would be written where nothing is held for any answer. */
	@Test
	void answerIsNotHeldElsewhereWhileBytesAreOnTheirWay() throws IOException, InterruptedException {
		Thread other = new Thread(this.response::pass);
		List<Boolean> held = new ArrayList<>();
		this.response.hold(4);
		this.response.streamIf(() -> {
			other.start();
			while (other.isAlive() && other.getState() != Thread.State.WAITING) {
				Thread.yield();
			}
			held.add(this.response.isHeld());
			return false;
		});
		write("ab");
		other.join();
		assertThat(held).containsExactly(true);
		assertThat(this.client.received()).isEmpty();
		assertThat(kept()).isZero();
	}

	@Test
	void bytesAfterAnErrorAreDroppedHoweverMany() throws IOException {
		this.response.hold(2);
		write("a");
		this.response.sendError(409);
		write("b");
		write("cdef");
		assertThat(this.response.isHeld()).isTrue();
		assertThat(this.response.isError()).isTrue();
		this.response.push();
		assertThat(this.client.received()).isEmpty();
		assertThat(this.client.getStatus()).isEqualTo(409);
	}

	@Test
	void handlerThatClosesItsStreamDoesNotEndTheAnswer() throws IOException {
		this.response.hold(2);
		write("a");
		this.response.getOutputStream().close();
		assertThat(this.client.closes).isZero();
		this.response.push();
		assertThat(this.client.received()).isEqualTo("a");
		assertThat(this.client.flushes).as("closing says that the bytes should leave").isOne();
	}

	@Test
	void handlerThatClosesItsStreamOverTheLimitDoesNotEndTheAnswer() throws IOException {
		this.response.hold(2);
		write("abc");
		this.response.getOutputStream().close();
		assertThat(this.client.closes).isZero();
		assertThat(this.client.received()).isEqualTo("ab");
		assertThat(this.client.flushes).isOne();
	}

	@Test
	void handlerMayCloseAStreamThatPassesThrough() throws IOException {
		this.response.getOutputStream().close();
		assertThat(this.client.closes).isOne();
		this.response.hold(2);
		this.response.stream();
		this.response.getOutputStream().close();
		assertThat(this.client.closes).isEqualTo(2);
	}

	@Test
	void bytesThatWereResetCountNoMore() throws IOException {
		this.response.hold(3);
		write("abc");
		this.response.resetBuffer();
		write("def");
		assertThat(this.response.isHeld()).isTrue();
		this.response.push();
		assertThat(this.client.received()).isEqualTo("def");
	}

	@Test
	void answerOfWhichSomethingHasLeftIsNotHeld() throws IOException {
		write("a");
		this.response.hold(4);
		assertThat(this.response.isHeld()).isFalse();
		assertThat(this.response.isStreaming()).isTrue();
		write("b");
		assertThat(this.client.received()).isEqualTo("ab");
	}

	@Test
	void answerOfWhichNothingHasLeftIsHeld() throws IOException {
		assertThat(this.response.getOutputStream()).isNotNull();
		this.response.hold(4);
		assertThat(this.response.isHeld()).isTrue();
	}

	private int kept() {
		return this.response.snapshot(Set.of()).body().remaining();
	}

	private void write(String text) throws IOException {
		this.response.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
	}

	/** What the client gets, byte by byte; it may hang up. */
	private static final class Client extends MockHttpServletResponse {

		private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

		private boolean gone;

		private int opened;

		private int attempts;

		private int flushes;

		private int closes;

		private int lengthAtFirstByte = -1;

		String received() {
			return this.bytes.toString(StandardCharsets.ISO_8859_1);
		}

		@Override
		public ServletOutputStream getOutputStream() {
			this.opened++;
			return new ServletOutputStream() {

				@Override
				public void write(int value) throws IOException {
					write(new byte[] { (byte) value }, 0, 1);
				}

				@Override
				public void write(byte[] from, int offset, int length) throws IOException {
					reach();
					if (Client.this.bytes.size() == 0) {
						Client.this.lengthAtFirstByte = getContentLength();
					}
					Client.this.bytes.write(from, offset, length);
				}

				@Override
				public void flush() throws IOException {
					reach();
					Client.this.flushes++;
				}

				@Override
				public void close() {
					Client.this.closes++;
				}

				@Override
				public boolean isReady() {
					return true;
				}

				@Override
				public void setWriteListener(WriteListener listener) {
					throw new UnsupportedOperationException();
				}

			};
		}

		@Override
		public void flushBuffer() {
			this.flushes++;
			setCommitted(true);
		}

		private void reach() throws IOException {
			this.attempts++;
			if (this.gone) {
				throw new IOException("Broken pipe");
			}
		}

	}

}
