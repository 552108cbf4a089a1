package io.idempotency.web;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

import io.idempotency.engine.UnreadableResultException;
import io.idempotency.store.StoredResult;
import io.idempotency.web.StoredResponse.EndedBy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class StoredResponseCodecTests {

	private final StoredResponse response = new StoredResponse(EndedBy.BODY, 201, "application/json;charset=UTF-8", -1,
			null,
			List.of(new ResponseHeader("Location", true, List.of("/orders/7")),
					new ResponseHeader("Vary", false, List.of("Accept", "", "ünïcode"))),
			ByteBuffer.wrap("xx{\"a\":\"ö\"}".getBytes(StandardCharsets.UTF_8), 2, 10).slice());

	@Test
	void answerComesBackAsItWas() {
		assertThat(StoredResponseCodec.decode(StoredResponseCodec.encode(this.response))).isEqualTo(this.response);
	}

	@Test
	void errorsAndRedirectsComeBackAsTheyWere() {
		StoredResponse error = new StoredResponse(EndedBy.ERROR, 409, null, -1, "Käse", List.of(),
				StoredResponse.NO_BODY);
		StoredResponse redirect = new StoredResponse(EndedBy.REDIRECT, 302, "text/plain", 7, "/a?b=c", List.of(),
				StoredResponse.NO_BODY);
		assertThat(StoredResponseCodec.decode(StoredResponseCodec.encode(error))).isEqualTo(error);
		assertThat(StoredResponseCodec.decode(StoredResponseCodec.encode(redirect))).isEqualTo(redirect);
	}

	/**
	 * The bytes never change: answers of the first version are in the stores of users.
	 */
	@Test
	void answerOfTheOldestFormatIsRead() {
		byte[] bytes = HexFormat.of()
			.parseHex("0000c9000000106170706c69636174696f6e2f6a736f6effffffffffffffffffffffff00"
					+ "0101000000084c6f636174696f6e0001000000092f6f72646572732f37000000087b226964223a377d");
		assertThat(StoredResponseCodec.decode(new StoredResult("http1", bytes)))
			.isEqualTo(new StoredResponse(EndedBy.BODY, 201, "application/json", -1, null,
					List.of(new ResponseHeader("Location", true, List.of("/orders/7"))),
					ByteBuffer.wrap("{\"id\":7}".getBytes(StandardCharsets.UTF_8))));
	}

	@Test
	void encodingDoesNotConsumeTheBody() {
		StoredResult first = StoredResponseCodec.encode(this.response);
		assertThat(StoredResponseCodec.encode(this.response)).isEqualTo(first);
	}

	@Test
	void otherFormatsAreUnreadable() {
		StoredResult encoded = StoredResponseCodec.encode(this.response);
		assertThatExceptionOfType(UnreadableResultException.class)
			.isThrownBy(() -> StoredResponseCodec.decode(new StoredResult("http2", encoded.bytes())))
			.withMessageContaining("'http2'");
	}

	@Test
	void everyTruncationIsUnreadable() {
		byte[] bytes = StoredResponseCodec.encode(this.response).bytes();
		for (int length = 0; length < bytes.length; length++) {
			StoredResult truncated = new StoredResult(StoredResponseCodec.FORMAT, Arrays.copyOf(bytes, length));
			assertThatExceptionOfType(UnreadableResultException.class)
				.isThrownBy(() -> StoredResponseCodec.decode(truncated));
		}
	}

	@Test
	void trailingBytesAreUnreadable() {
		byte[] bytes = StoredResponseCodec.encode(this.response).bytes();
		StoredResult longer = new StoredResult(StoredResponseCodec.FORMAT, Arrays.copyOf(bytes, bytes.length + 1));
		assertThatExceptionOfType(UnreadableResultException.class).isThrownBy(() -> StoredResponseCodec.decode(longer));
	}

	@Test
	void damagedBytesNeverGiveAnythingButAnAnswerOrTheException() {
		byte[] bytes = StoredResponseCodec.encode(this.response).bytes();
		Random random = new Random(7);
		int unreadable = 0;
		for (int i = 0; i < 20_000; i++) {
			byte[] damaged = bytes.clone();
			for (int n = random.nextInt(4); n >= 0; n--) {
				damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
			}
			try {
				StoredResponse decoded = StoredResponseCodec.decode(new StoredResult("http1", damaged));
				assertThat(decoded.body().remaining()).isLessThan(bytes.length);
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
		StoredResponse decoded = StoredResponseCodec.decode(patched(1, (byte) (status >> 8), (byte) status));
		assertThat(decoded.status()).isEqualTo(status);
	}

	@Test
	void textOfNegativeLengthIsUnreadable() {
		assertUnreadable(patched(3, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, (byte) 0xFE));
	}

	@Test
	void textThatIsNoUtf8IsUnreadable() {
		assertUnreadable(patched(7, (byte) 0xFF));
	}

	@Test
	void headerWithoutANameOrAValueIsUnreadable() {
		assertUnreadable(encoded(new ResponseHeader("", true, List.of("value"))));
		assertUnreadable(encoded(new ResponseHeader("X-App", true, List.of())));
		assertThat(StoredResponseCodec.decode(encoded(new ResponseHeader("X-App", true, List.of("")))).headers())
			.containsExactly(new ResponseHeader("X-App", true, List.of("")));
	}

	@Test
	void headerWhoseNameOrValueIsNullIsUnreadable() {
		byte[] bytes = encoded(new ResponseHeader("N", true, List.of("V"))).bytes();
		int name = indexOf(bytes, 'N') - 4;
		assertUnreadable(nulled(bytes, name));
		assertUnreadable(nulled(bytes, indexOf(bytes, 'V') - 4));
	}

	/** A text of one byte becomes none. */
	private static StoredResult nulled(byte[] bytes, int length) {
		byte[] nulled = new byte[bytes.length - 1];
		System.arraycopy(bytes, 0, nulled, 0, length);
		Arrays.fill(nulled, length, length + 4, (byte) 0xFF);
		System.arraycopy(bytes, length + 5, nulled, length + 4, bytes.length - length - 5);
		return new StoredResult(StoredResponseCodec.FORMAT, nulled);
	}

	private static int indexOf(byte[] bytes, char character) {
		return new String(bytes, StandardCharsets.ISO_8859_1).indexOf(character);
	}

	@Test
	void asManyValuesAsTheCountHasRoomForComeBack() {
		ResponseHeader most = new ResponseHeader("X-App", false, Collections.nCopies(0xFFFF, "v"));
		assertThat(StoredResponseCodec.decode(encoded(most)).headers()).containsExactly(most);
		ResponseHeader more = new ResponseHeader("X-App", false, Collections.nCopies(0x10000, "v"));
		assertThatIllegalArgumentException().isThrownBy(() -> encoded(more)).withMessageContaining("65536");
	}

	private StoredResult patched(int index, byte... with) {
		byte[] bytes = StoredResponseCodec.encode(this.response).bytes().clone();
		System.arraycopy(with, 0, bytes, index, with.length);
		return new StoredResult(StoredResponseCodec.FORMAT, bytes);
	}

	private static StoredResult encoded(ResponseHeader header) {
		return StoredResponseCodec
			.encode(new StoredResponse(EndedBy.BODY, 200, null, -1, null, List.of(header), StoredResponse.NO_BODY));
	}

	private static void assertUnreadable(StoredResult result) {
		assertThatExceptionOfType(UnreadableResultException.class).isThrownBy(() -> StoredResponseCodec.decode(result));
	}

	@Test
	void textNeverShowsTheBody() {
		assertThat(this.response).hasToString("201 BODY[10 bytes]");
	}

}
