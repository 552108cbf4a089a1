package io.idempotency.http;

import java.io.File;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import io.idempotency.http.JsonTokenReader.MalformedJsonException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** In a class loader from which the jars of Jackson were taken away for real. */
class JsonWithoutJacksonTests {

	@Test
	void bodiesAreComparedByteByByte() throws Exception {
		List<URL> urls = new ArrayList<>();
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
			File file = new File(entry);
			if (!file.getName().matches("jackson-.*")) {
				urls.add(file.toURI().toURL());
			}
		}
		try (URLClassLoader classLoader = new URLClassLoader(urls.toArray(URL[]::new),
				ClassLoader.getPlatformClassLoader())) {
			Constructor<?> probe = classLoader.loadClass(Probe.class.getName()).getDeclaredConstructor();
			probe.setAccessible(true);
			assertThat(((Callable<?>) probe.newInstance()).call())
				.isEqualTo(Map.of("reader", "none", "comparable", "none"));
		}
	}

	static final class Probe implements Callable<Map<String, String>> {

		@Override
		public Map<String, String> call() {
			return Map.of("reader", (JsonTokenReader.READER != null) ? "some" : "none", "comparable",
					isComparable("{\"a\":1}") ? "some" : "none");
		}

		private static boolean isComparable(String json) {
			try {
				return JsonBody.read(ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8)), "").comparable() != null;
			}
			catch (MalformedJsonException ex) {
				return false;
			}
		}

	}

}
