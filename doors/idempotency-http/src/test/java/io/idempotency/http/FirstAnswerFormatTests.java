package io.idempotency.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

import io.idempotency.http.StoredResponse.EndedBy;
import io.idempotency.protocol.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Answers as the first version stored them, and such bytes that are damaged. */
class FirstAnswerFormatTests {

	/**
	 * The bytes never change: answers of the first version are in the stores of users.
	 */
	private static final byte[] BYTES = HexFormat.of()
		.parseHex("0000c9000000106170706c69636174696f6e2f6a736f6effffffffffffffffffffffff00"
				+ "0101000000084c6f636174696f6e0001000000092f6f72646572732f37000000087b226964223a377d");

	private static final int CONTENT_TYPE = 3;

	private static final int NAME = 38;

	private static final int VALUE = 52;

	@Test
	void answerIsRead() {
		assertThat(decode(BYTES)).isEqualTo(new StoredResponse(EndedBy.BODY, 201, "application/json", -1, null,
				List.of(new ResponseHeader("Location", true, List.of("/orders/7"))),
				ByteBuffer.wrap("{\"id\":7}".getBytes(StandardCharsets.UTF_8))));
	}

	@Test
	void answerIsWrittenInTheNewFormat() {
		StoredResult again = StoredResponseCodec.encode(decode(BYTES));
		assertThat(again.format()).isEqualTo(StoredResponseCodec.FORMAT);
		assertThat(StoredResponseCodec.decode(again)).isEqualTo(decode(BYTES));
	}

	@Test
	void everyTruncationIsUnreadable() {
		for (int length = 0; length < BYTES.length; length++) {
			assertUnreadable(Arrays.copyOf(BYTES, length));
		}
	}

	@Test
	void trailingBytesAreUnreadable() {
		assertUnreadable(Arrays.copyOf(BYTES, BYTES.length + 1));
	}

	@Test
	void damagedBytesNeverGiveAnythingButAnAnswerOrTheException() {
		Random random = new Random(7);
		int unreadable = 0;
		for (int i = 0; i < 20_000; i++) {
			byte[] damaged = BYTES.clone();
			for (int n = random.nextInt(4); n >= 0; n--) {
				damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
			}
			try {
				assertThat(decode(damaged).body().remaining()).isLessThan(BYTES.length);
			}
			catch (UnreadableResultException ex) {
				unreadable++;
			}
		}
		assertThat(unreadable).isPositive();
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 3, 127, -128 })
	void endingThatDoesNotExistIsUnreadable(int ending) {
		assertUnreadable(patched(0, (byte) ending));
	}

	@ParameterizedTest
	@ValueSource(ints = { 99, 1000, 0, -1 })
	void statusThatDoesNotExistIsUnreadable(int status) {
		assertUnreadable(patched(1, (byte) (status >> 8), (byte) status));
	}

	@ParameterizedTest
	@ValueSource(ints = { 100, 999 })
	void everyStatusOfThreeDigitsIsReadable(int status) {
		assertThat(decode(patched(1, (byte) (status >> 8), (byte) status)).status()).isEqualTo(status);
	}

	@Test
	void textOfNegativeLengthIsUnreadable() {
		assertUnreadable(patched(CONTENT_TYPE, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, (byte) 0xFE));
	}

	@Test
	void textThatIsNoUtf8IsUnreadable() {
		assertUnreadable(patched(CONTENT_TYPE + 4, (byte) 0xFF));
	}

	@Test
	void headerWhoseNameOrValueIsNullIsUnreadable() {
		assertUnreadable(nulled(NAME));
		assertUnreadable(nulled(VALUE));
	}

	/** The text whose length is at an index becomes none. */
	private static byte[] nulled(int index) {
		int length = ByteBuffer.wrap(BYTES).getInt(index);
		byte[] nulled = new byte[BYTES.length - length];
		System.arraycopy(BYTES, 0, nulled, 0, index);
		Arrays.fill(nulled, index, index + 4, (byte) 0xFF);
		System.arraycopy(BYTES, index + 4 + length, nulled, index + 4, nulled.length - index - 4);
		return nulled;
	}

	private static byte[] patched(int index, byte... with) {
		byte[] bytes = BYTES.clone();
		System.arraycopy(with, 0, bytes, index, with.length);
		return bytes;
	}

	private static StoredResponse decode(byte[] bytes) {
		return StoredResponseCodec.decode(new StoredResult("http1", bytes));
	}

	private static void assertUnreadable(byte[] bytes) {
		assertThatExceptionOfType(UnreadableResultException.class).isThrownBy(() -> decode(bytes));
	}

}
