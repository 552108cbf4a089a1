package io.idempotency.interceptor;

import io.idempotency.interceptor.RequestValues.BodyPointers;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class BodyPointersTests {

	@ParameterizedTest
	@ValueSource(strings = { "", "/", "/a", "/a/b", "/a~1b", "/m~0n", "//", "/a/0", "/ä" })
	void pointers(String text) {
		assertThat(BodyPointers.isPointer(text)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "a", "a/b", "/a~", "/a~2b", "/~" })
	void whatIsNoPointer(String text) {
		assertThat(BodyPointers.isPointer(text)).isFalse();
	}

}
