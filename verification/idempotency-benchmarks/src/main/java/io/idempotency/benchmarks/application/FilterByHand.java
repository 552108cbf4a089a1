package io.idempotency.benchmarks.application;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.context.annotation.Profile;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.util.ContentCachingResponseWrapper;

/**
 * What an application may write itself: the header is the key, and Redis keeps status,
 * type and body. Nobody compares the request or knows the caller, and a key is free again
 * a minute after its claim, whether or not the call runs.
 */
@Component
@Profile(LoadApplication.FILTER)
class FilterByHand extends OncePerRequestFilter {

	private static final Duration LEASE = Duration.ofMinutes(1);

	private static final Duration DAY = Duration.ofDays(1);

	private static final String RUNNING = "running";

	private final StringRedisTemplate redis;

	FilterByHand(StringRedisTemplate redis) {
		this.redis = redis;
	}

	@Override
	protected boolean shouldNotFilter(HttpServletRequest request) {
		return !request.getRequestURI().startsWith("/filtered");
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		String name = "filtered:" + request.getHeader("Idempotency-Key");
		if (Boolean.TRUE.equals(this.redis.opsForValue().setIfAbsent(name, RUNNING, LEASE))) {
			ContentCachingResponseWrapper answer = new ContentCachingResponseWrapper(response);
			chain.doFilter(request, answer);
			String body = new String(answer.getContentAsByteArray(), StandardCharsets.UTF_8);
			this.redis.opsForValue().set(name, answer.getStatus() + "\n" + answer.getContentType() + "\n" + body, DAY);
			answer.copyBodyToResponse();
		}
		else {
			answerAgain(this.redis.opsForValue().get(name), response);
		}
	}

	private static void answerAgain(String kept, HttpServletResponse response) throws IOException {
		if (kept == null || kept.equals(RUNNING)) {
			response.setStatus(HttpStatus.CONFLICT.value());
			return;
		}
		String[] answer = kept.split("\n", 3);
		byte[] body = answer[2].getBytes(StandardCharsets.UTF_8);
		response.setStatus(Integer.parseInt(answer[0]));
		response.setContentType(answer[1]);
		response.setContentLength(body.length);
		response.getOutputStream().write(body);
	}

}
