package io.idempotency.http;

import java.util.Set;

import io.idempotency.ScopeMode;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class HttpSettingsTests {

	@Test
	void defaultsAreThoseOfTheContract() {
		HttpSettings settings = HttpSettings.DEFAULTS;
		assertThat(settings.replayedHeader()).isEqualTo("Idempotent-Replayed");
		assertThat(settings.maxRequestSize()).isEqualTo(1024 * 1024);
		assertThat(settings.maxResponseSize()).isEqualTo(1024 * 1024);
		assertThat(settings.rawFingerprint()).isFalse();
		assertThat(settings.scope()).isEqualTo(ScopeMode.PRINCIPAL);
	}

	@Test
	void namesOfExcludedHeadersAreComparedWithoutCase() {
		assertThat(settings(1, 1, Set.of("X-Secret")).excludedHeaders()).containsExactly("x-secret");
	}

	@Test
	void sizesThatNoArrayCanHaveAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> settings(-1, 1, Set.of()))
			.withMessageContaining("maxRequestSize");
		assertThatIllegalArgumentException().isThrownBy(() -> settings(1, Integer.MAX_VALUE, Set.of()))
			.withMessageContaining("maxResponseSize");
	}

	private HttpSettings settings(long maxRequestSize, long maxResponseSize, Set<String> excludedHeaders) {
		return HttpSettings.DEFAULTS.change()
			.maxRequestSize(maxRequestSize)
			.maxResponseSize(maxResponseSize)
			.excludedHeaders(excludedHeaders)
			.build();
	}

}
