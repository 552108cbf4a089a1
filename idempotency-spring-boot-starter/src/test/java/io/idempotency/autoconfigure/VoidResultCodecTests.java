package io.idempotency.autoconfigure;

import io.idempotency.codec.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class VoidResultCodecTests {

	private final ResultCodecConfigurations.VoidResultCodec codec = new ResultCodecConfigurations.VoidResultCodec();

	@Test
	void keepsDone() {
		assertThat(this.codec.unsupported(void.class)).isNull();
		assertThat(this.codec.unsupported(Void.class)).isNull();
		StoredResult stored = this.codec.encode(null, void.class);
		assertThat(this.codec.decode(stored, void.class)).isNull();
	}

	@Test
	void rejectsEverythingElseAndSaysWhatToAdd() {
		assertThat(this.codec.unsupported(String.class)).contains("java.lang.String").contains("add Jackson");
		assertThatIllegalStateException().isThrownBy(() -> this.codec.encode("text", String.class));
	}

	@Test
	void rejectsToReadWhatACodecWrote() {
		StoredResult stored = new StoredResult("json1", new byte[] { '1' });
		assertThatExceptionOfType(UnreadableResultException.class)
			.isThrownBy(() -> this.codec.decode(stored, Integer.class));
	}

}
