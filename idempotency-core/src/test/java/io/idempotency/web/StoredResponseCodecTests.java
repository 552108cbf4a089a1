package io.idempotency.web;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import io.idempotency.engine.UnreadableResultException;
import io.idempotency.store.StoredResult;
import io.idempotency.web.StoredResponse.EndedBy;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

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

	@Test
	void textNeverShowsTheBody() {
		assertThat(this.response).hasToString("201 BODY[10 bytes]");
	}

}
