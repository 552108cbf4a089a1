package io.idempotency.proofs.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.IdempotencyContext;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.util.MultiValueMap;
import org.springframework.util.StringUtils;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.multipart.MultipartHttpServletRequest;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.util.WebUtils;

/** Answers with which request ran, as which run, and a digest of what it brought. */
final class Echo {

	/** What the answers of {@link #status} have; the last two free their key. */
	private static final int[] STATUSES = { 200, 201, 202, 204, 302, 404, 409, 422, 403, 503 };

	private final AtomicLong runs = new AtomicLong();

	ResponseEntity<String> of(HttpServletRequest request, @Nullable Object... received) {
		return answer(200, request, received);
	}

	CompletableFuture<ResponseEntity<String>> later(HttpServletRequest request, @Nullable Object... received) {
		ResponseEntity<String> answer = answer(200, request, received);
		return CompletableFuture.supplyAsync(() -> answer);
	}

	/** An answer whose status the path decides, with or without an exception. */
	ResponseEntity<String> status(HttpServletRequest request, String id, @Nullable Object... received) {
		int status = STATUSES[Math.floorMod(id.hashCode(), STATUSES.length)];
		return answer(status, request, id, received);
	}

	private ResponseEntity<String> answer(int status, HttpServletRequest request, @Nullable Object... received) {
		String digest = digest(request.getMethod(), request.getQueryString(), received);
		String id = request.getHeader("X-Fuzz-Id");
		HttpServletResponse response = response();
		// Not in the entity: these stay when the answer cannot be written as the client
		// wants it.
		response.setHeader("X-Ran", id);
		response.setHeader("X-Guarded", Boolean.toString(IdempotencyContext.current().isPresent()));
		response.setHeader("X-Received", digest);
		String body = id + " in run " + this.runs.incrementAndGet() + " with " + digest;
		if (status == 409) {
			throw new ResponseStatusException(HttpStatus.CONFLICT, body);
		}
		return ResponseEntity.status(status).body(body);
	}

	private static HttpServletResponse response() {
		HttpServletResponse response = ((ServletRequestAttributes) RequestContextHolder.currentRequestAttributes())
			.getResponse();
		if (response == null) {
			throw new IllegalStateException("There is no response");
		}
		return response;
	}

	/** The parameters and files of a form, however it was sent. */
	static Object form(HttpServletRequest request) {
		Map<String, Object> form = new TreeMap<>();
		request.getParameterMap().forEach((name, values) -> form.put(name, Arrays.asList(values)));
		MultipartHttpServletRequest multipart = WebUtils.getNativeRequest(request, MultipartHttpServletRequest.class);
		if (multipart != null) {
			multipart.getMultiFileMap()
				.forEach((name, files) -> form.put("file " + name, files.stream().map(Echo::file).toList()));
		}
		return form;
	}

	private static String file(MultipartFile file) {
		try {
			return file.getOriginalFilename() + " " + file.getContentType() + " "
					+ HexFormat.of().formatHex(file.getBytes());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String digest(@Nullable Object... received) {
		try {
			byte[] digest = MessageDigest.getInstance("SHA-256")
				.digest(text(received).getBytes(StandardCharsets.UTF_16BE));
			return HexFormat.of().formatHex(digest, 0, 8);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String text(@Nullable Object value) {
		if (value instanceof MultiValueMap<?, ?> form) {
			return new TreeMap<>(form).toString();
		}
		if (value instanceof Object[] values) {
			return StringUtils.arrayToDelimitedString(Arrays.stream(values).map(Echo::text).toArray(), "\u0001");
		}
		return (value instanceof byte[] bytes) ? new String(bytes, StandardCharsets.ISO_8859_1) : String.valueOf(value);
	}

}
