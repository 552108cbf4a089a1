package io.idempotency.web;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

import io.idempotency.key.Sha256;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import org.jspecify.annotations.Nullable;

import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.multipart.MultipartHttpServletRequest;
import org.springframework.web.util.WebUtils;

/**
 * One part of a multipart form.
 *
 * @param name the name
 * @param fileName the file name, {@code null} for a plain field
 * @param contentType the content type, {@code null} if it has none
 * @param size how many bytes it has
 * @param content opens its bytes
 */
record RequestPart(String name, @Nullable String fileName, @Nullable String contentType, long size, Content content) {

	private static final int CHUNK = 8192;

	/**
	 * Returns the parts of a request, sorted by name; parts of one name keep their order.
	 * @param request the request
	 * @return the parts, empty if no multipart resolver has parsed the request
	 * @throws HttpMessageNotReadableException if the parts could not be read
	 */
	static List<RequestPart> of(HttpServletRequest request) {
		List<RequestPart> parts = new ArrayList<>();
		for (Part part : parts(request)) {
			parts.add(new RequestPart(part.getName(), part.getSubmittedFileName(), part.getContentType(),
					part.getSize(), part::getInputStream));
		}
		if (parts.isEmpty()) {
			// A multipart resolver other than the container's may have parsed the
			// request.
			MultipartHttpServletRequest multipart = WebUtils.getNativeRequest(request,
					MultipartHttpServletRequest.class);
			if (multipart != null) {
				multipart.getMultiFileMap().values().forEach((files) -> files.forEach((file) -> parts.add(of(file))));
			}
		}
		parts.sort(Comparator.comparing(RequestPart::name));
		return parts;
	}

	private static Collection<Part> parts(HttpServletRequest request) {
		try {
			return request.getParts();
		}
		catch (ServletException | IllegalStateException ex) {
			// Containers throw these exceptions if there is no multipart configuration.
			return List.of();
		}
		catch (IOException ex) {
			throw new HttpMessageNotReadableException("The parts of the request could not be read", ex,
					new ServletServerHttpRequest(request));
		}
	}

	private static RequestPart of(MultipartFile file) {
		return new RequestPart(file.getName(), file.getOriginalFilename(), file.getContentType(), file.getSize(),
				file::getInputStream);
	}

	byte[] digest() throws IOException {
		MessageDigest digest = Sha256.create();
		byte[] chunk = new byte[CHUNK];
		try (InputStream stream = this.content.open()) {
			int read = stream.read(chunk);
			while (read >= 0) {
				digest.update(chunk, 0, read);
				read = stream.read(chunk);
			}
		}
		return digest.digest();
	}

	/**
	 * Opens the bytes of a part; may be done more than once.
	 */
	@FunctionalInterface
	interface Content {

		InputStream open() throws IOException;

	}

}
