package io.idempotency.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

import io.idempotency.codec.UnreadableResultException;
import io.idempotency.http.StoredResponse.EndedBy;
import io.idempotency.http.StoredResponse.Header;
import io.idempotency.http.StoredResponse.StoredResponseCodec;
import io.idempotency.store.StoredResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class StoredResponseCodecTests {

	private static final int CONTENT_TYPE = 2;

	private final StoredResponse response = new StoredResponse(EndedBy.BODY, 201, "application/json;charset=UTF-8", -1,
			null,
			List.of(new Header("Location", true, List.of("/orders/7")),
					new Header("Vary", false, List.of("Accept", "", "ünïcode"))),
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
	 * The bytes never change: answers like this one are in the stores of users.
	 */
	@Test
	void answerOfThisFormatIsRead() {
		byte[] bytes = HexFormat.of()
			.parseHex("04c9" + "11" + "6170706c69636174696f6e2f6a736f6e"
					+ "0101084c6f636174696f6e01092f6f72646572732f37" + "087b226964223a377d");
		StoredResponse answer = new StoredResponse(EndedBy.BODY, 201, "application/json", -1, null,
				List.of(new Header("Location", true, List.of("/orders/7"))),
				ByteBuffer.wrap("{\"id\":7}".getBytes(StandardCharsets.UTF_8)));
		assertThat(StoredResponseCodec.decode(new StoredResult("h3", bytes))).isEqualTo(answer);
		assertThat(StoredResponseCodec.encode(answer)).isEqualTo(new StoredResult("h3", bytes));
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "", "a", "text/csv;header=present" })
	void anyContentTypeComesBackAsItWas(String contentType) {
		StoredResponse answer = new StoredResponse(EndedBy.BODY, 200, contentType, 0, "", List.of(),
				StoredResponse.NO_BODY);
		assertThat(StoredResponseCodec.decode(StoredResponseCodec.encode(answer))).isEqualTo(answer);
	}

	@ParameterizedTest
	@ValueSource(longs = { -1, 0, 126, 127, 128, 16_383, 16_384, Integer.MAX_VALUE, Long.MAX_VALUE })
	void anyContentLengthComesBackAsItWas(long length) {
		StoredResponse answer = new StoredResponse(EndedBy.BODY, 200, null, length, null, List.of(),
				StoredResponse.NO_BODY);
		assertThat(StoredResponseCodec.decode(StoredResponseCodec.encode(answer))).isEqualTo(answer);
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
			.isThrownBy(() -> StoredResponseCodec.decode(new StoredResult("h4", encoded.bytes())))
			.withMessageContaining("'h4'");
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
				StoredResponse decoded = StoredResponseCodec
					.decode(new StoredResult(StoredResponseCodec.FORMAT, damaged));
				assertThat(decoded.body().remaining()).isLessThan(bytes.length);
			}
			catch (UnreadableResultException ex) {
				unreadable++;
			}
		}
		assertThat(unreadable).isPositive();
	}

	@ParameterizedTest
	@ValueSource(ints = { 3, 4, 7 })
	void endingThatDoesNotExistIsUnreadable(int ending) {
		assertThat(StoredResponseCodec.decode(patched(0, (byte) (2 << 5 | 4), (byte) 201)).ending())
			.isEqualTo(EndedBy.REDIRECT);
		assertUnreadable(patched(0, (byte) (ending << 5 | 4), (byte) 201));
	}

	@ParameterizedTest
	@ValueSource(ints = { 99, 100, 199, 1000, 0, 1023 })
	void statusThatDoesNotExistIsUnreadable(int status) {
		assertUnreadable(patched(0, (byte) (4 | status >> 8), (byte) status));
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 0, 99, 100, 199, 1000, 1024, Integer.MAX_VALUE })
	void statusThatCouldNotBeReadIsNotStored(int status) {
		StoredResponse answer = new StoredResponse(EndedBy.BODY, status, null, -1, null, List.of(),
				StoredResponse.NO_BODY);
		assertThatIllegalArgumentException().isThrownBy(() -> StoredResponseCodec.encode(answer))
			.withMessageContaining("" + status);
	}

	@ParameterizedTest
	@ValueSource(ints = { 200, 999 })
	void everyStatusOfAResponseIsReadable(int status) {
		StoredResponse decoded = StoredResponseCodec.decode(patched(0, (byte) (4 | status >> 8), (byte) status));
		assertThat(decoded.status()).isEqualTo(status);
	}

	@Test
	void numberThatIsTooLongIsUnreadable() {
		byte[] nines = new byte[9];
		Arrays.fill(nines, (byte) 0xFF);
		assertUnreadable(patched(CONTENT_TYPE, nines));
	}

	@Test
	void textThatIsLongerThanTheRestIsUnreadable() {
		assertUnreadable(patched(CONTENT_TYPE, (byte) 0xFF, (byte) 0xFF, (byte) 0x7F));
	}

	@Test
	void textThatIsNoUtf8IsUnreadable() {
		byte[] bytes = StoredResponseCodec
			.encode(new StoredResponse(EndedBy.BODY, 200, "a/b", -1, null, List.of(), StoredResponse.NO_BODY))
			.bytes();
		bytes[CONTENT_TYPE + 1] = (byte) 0xFF;
		assertUnreadable(new StoredResult(StoredResponseCodec.FORMAT, bytes));
	}

	@Test
	void headerWithoutANameOrAValueIsUnreadable() {
		assertUnreadable(encoded(new Header("", true, List.of("value"))));
		assertUnreadable(encoded(new Header("X-App", true, List.of())));
		assertThat(StoredResponseCodec.decode(encoded(new Header("X-App", true, List.of("")))).headers())
			.containsExactly(new Header("X-App", true, List.of("")));
	}

	/** The record may come from someone who can only write to the store. */
	@ParameterizedTest
	@ValueSource(strings = { "Transfer-Encoding", "connection", "Set-Cookie", "Content-Length" })
	void headersThatAreNeverStoredAreNotRead(String name) {
		assertThat(StoredResponseCodec.decode(encoded(new Header(name, true, List.of("value")))).headers()).isEmpty();
	}

	@Test
	void asManyValuesAsTheCountHasRoomForComeBack() {
		Header most = new Header("X-App", false, Collections.nCopies(0xFFFF, "v"));
		assertThat(StoredResponseCodec.decode(encoded(most)).headers()).containsExactly(most);
		Header more = new Header("X-App", false, Collections.nCopies(0x10000, "v"));
		assertThatIllegalArgumentException().isThrownBy(() -> encoded(more)).withMessageContaining("65536");
	}

	private StoredResult patched(int index, byte... with) {
		byte[] bytes = StoredResponseCodec.encode(this.response).bytes().clone();
		System.arraycopy(with, 0, bytes, index, with.length);
		return new StoredResult(StoredResponseCodec.FORMAT, bytes);
	}

	private static StoredResult encoded(Header header) {
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
